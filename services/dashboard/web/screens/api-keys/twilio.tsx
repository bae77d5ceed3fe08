// By what Twilio's API knows this app, and how its libraries are pointed at Countersign.
import { twilioNodeSample, twilioPythonSample } from '../../../../domain/tenancy/twilio-samples.ts'
import { useApp } from '../../data/tenant.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Fact } from '../../ui/fact.tsx'

export function Twilio() {
  const { account_sid, service_sid } = useApp().twilio
  const access = { url: location.origin, account_sid, service_sid }
  return (
    <Card
      title="Twilio Verify"
      lead="An app that uses Twilio Verify can call Countersign instead: with these SIDs, and a server key as the auth token."
    >
      <dl class="api-keys-sids">
        <Sid name="Account SID" value={account_sid} />
        <Sid name="Service SID" value={service_sid} />
      </dl>
      <details class="more">
        <summary>Use Twilio's library</summary>
        <CodeBlock label="Node.js" text={twilioNodeSample(access)} />
        <CodeBlock label="Python" text={twilioPythonSample(access)} />
        <p class="hint">
          Where the API has another address than this page, put that in its place. Everything after this stays as it is:{' '}
          <code>verifications.create</code>, <code>verificationChecks.create</code>.
        </p>
      </details>
    </Card>
  )
}

function Sid({ name, value }: { name: string; value: string }) {
  return (
    <Fact name={name}>
      <code>{value}</code>
      <CopyButton text={value} label={`Copy ${name}`} />
    </Fact>
  )
}
