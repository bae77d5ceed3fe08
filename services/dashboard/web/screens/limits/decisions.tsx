// What the guard refused, or would have refused, newest first, with its reasons.
import { verificationPath } from '../../../screens.ts'
import { api, bodyOf } from '../../api/client.ts'
import { countryName } from '../../data/countries.ts'
import { useApp } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { ScreenLink } from '../../ui/screen-link.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { type Decision, outcomeWords, signalWords } from './fraud-words.ts'

/** Few, because the settings stand below. */
const ROWS = 10
const REFRESH_MS = 15_000

const COLUMNS: readonly Column<Decision>[] = [
  { name: 'When', show: ({ at }) => <Time at={at} /> },
  {
    name: 'Recipient',
    show: ({ masked_recipient, country, mode }) => (
      <span class="limits-stack">
        <span>
          {masked_recipient} {mode === 'test' && <Badge>test</Badge>}
        </span>
        {country && <span class="soft">{countryName(country)}</span>}
      </span>
    ),
  },
  {
    name: 'Outcome',
    show: decision => (
      <Badge tone={decision.enforced ? (decision.outcome === 'refused' ? 'bad' : 'info') : 'warning'}>
        {outcomeWords(decision)}
      </Badge>
    ),
  },
  {
    name: 'Why',
    show: ({ reasons, unrecorded }) => (
      <ul class="limits-reasons">
        {reasons.map(({ signal, detail }) => (
          <li key={detail}>
            <b>{signalWords(signal)}.</b> {detail}
          </li>
        ))}
        {unrecorded > 0 && <li class="soft">{unrecorded} decisions before this one were too many to record.</li>}
      </ul>
    ),
  },
  {
    name: 'Verification',
    quiet: true,
    // A verification whose first message was refused does not exist.
    show: ({ otp_id, enforced, outcome, masked_recipient }) =>
      enforced && outcome === 'refused' ? null : (
        <ScreenLink to={verificationPath(otp_id)} aria-label={`Show the verification of ${masked_recipient}`}>
          Show
        </ScreenLink>
      ),
  },
]

export function Decisions() {
  const app = useApp()
  const pages = usePages(
    `fraud ${app.id} ${app.settings.fraud_guard.mode}`,
    (page, call) => {
      const query = { ...page, limit: ROWS }
      return bodyOf(api.GET('/admin/v1/apps/{id}/fraud', { params: { path: { id: app.id }, query }, ...call }))
    },
    { everyMs: REFRESH_MS },
  )
  return (
    <Card title="What the guard saw" lead="Each message that it refused, or would have refused, and why.">
      <PagedTable
        caption="Decisions of the fraud guard"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        empty={
          <Empty title="Nothing has looked like fraud.">
            {app.settings.fraud_guard.mode === 'off'
              ? 'The guard is off. Let it record above, and look again in a few days.'
              : 'When ranges of numbers are sent to and hardly ever verified, they appear here.'}
          </Empty>
        }
      />
    </Card>
  )
}
