// What is known of a verification beside its history.
import { formatMicros } from '../../data/amounts.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { useTenant } from '../../data/tenant.tsx'
import { Badge, Status } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Fact } from '../../ui/fact.tsx'
import { Time } from '../../ui/time.tsx'
import type { History } from './delivery-words.ts'

export function Facts({ history }: { history: History }) {
  const { apps, companies } = useTenant()
  const { country, wrong_codes, attempts_left } = history
  const app = apps.find(({ id }) => id === history.app_id)
  const company = companies.find(({ id }) => id === history.company_id)
  return (
    <dl class="verification-facts">
      <Fact name="Status">
        <Status of={history.status} /> {history.mode === 'test' && <Badge>test</Badge>}
      </Fact>
      <Fact name="Recipient">
        {history.masked_recipient}
        {country && `, ${countryName(country)}`}
      </Fact>
      <Fact name="Channel">
        {CHANNEL_NAMES[history.channel]}, of {history.order.map(channel => CHANNEL_NAMES[channel]).join(' → ')}
      </Fact>
      <Fact name="App">{app?.name ?? company?.name ?? <code>{history.app_id}</code>}</Fact>
      <Fact name="Started">
        <Time at={history.created_at} />, by a {history.started_by.kind} key
      </Fact>
      <Fact name={endName(history)}>
        <Time at={history.expires_at} />
      </Fact>
      {history.kind === 'message' ? (
        <Fact name="Code">made and checked by your backend</Fact>
      ) : (
        <>
          <Fact name="Approved">
            <Time at={history.verified_at} none="not approved" />
          </Fact>
          <Fact name="Codes entered">
            {wrong_codes} wrong, {attempts_left} {attempts_left === 1 ? 'attempt' : 'attempts'} left
          </Fact>
        </>
      )}
      <Fact name="Sends">
        {history.sends}
        {history.resend_at &&
          (Date.parse(history.resend_at) > Date.now() ? (
            <>
              , next possible from <Time at={history.resend_at} />
            </>
          ) : (
            ', a resend is possible now'
          ))}
      </Fact>
      <Fact name="Cost">{formatMicros(history.cost_micros)}</Fact>
      <Fact name="Language">{history.locale}</Fact>
      <Fact name="Id">
        <code>{history.otp_id}</code> <CopyButton text={history.otp_id} />
      </Fact>
      {history.request_id && (
        <Fact name="Request">
          <code>{history.request_id}</code> <CopyButton text={history.request_id} />
        </Fact>
      )}
      {Object.entries(history.metadata ?? {}).map(([name, value]) => (
        <Fact key={name} name={`Metadata: ${name}`}>
          {value} <CopyButton text={value} />
        </Fact>
      ))}
      {history.action_url && (
        <Fact name="WhatsApp link">
          <code>{history.action_url}</code> <CopyButton text={history.action_url} />
        </Fact>
      )}
    </dl>
  )
}

/** A verification that was approved has not expired, also after that time. */
function endName({ status, kind }: History): string {
  if (status === 'expired') return 'Expired'
  return kind === 'message' ? 'Tried until' : 'Code valid until'
}
