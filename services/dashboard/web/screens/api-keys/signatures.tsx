// The secrets that sign events: which sign now, a new one in two steps or at once, and how a receiver checks a signature.

import { useState } from 'preact/hooks'
import { JAVASCRIPT_SIGNATURE_SAMPLE } from '../../../../domain/webhooks/signature-sample.ts'
import { api, bodyOf } from '../../api/client.ts'
import { useMay } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { ShownOnce } from './shown-once.tsx'
import { type Endpoint, SECRET_STATES, type SigningSecret } from './webhook-text.ts'

export interface SignaturesProps {
  endpoint: Endpoint
  /** One that was made since the screen was opened. */
  secret: string | null
  onSecret(secret: string | null): void
  reload(): Promise<void>
}

export function Signatures({ endpoint, secret, onSecret, reload }: SignaturesProps) {
  const mayChange = useMay('developer')
  const say = useToast()
  const change = useChange()
  const [asking, setAsking] = useState<'replace the new one' | 'at once' | null>(null)
  const params = { path: { id: endpoint.id } }
  const next = endpoint.secrets.find(({ state }) => state === 'next')

  async function rotate(immediate: boolean): Promise<void> {
    // The one before must not be taken for the new one.
    onSecret(null)
    try {
      const made = await bodyOf(api.POST('/admin/v1/endpoints/{id}/rotate', { params, body: { immediate } }))
      onSecret(made.secret)
    } catch (refused) {
      onSecret(secret)
      throw refused
    }
    await reload()
  }
  const promote = () =>
    change.run(async () => {
      await api.POST('/admin/v1/endpoints/{id}/promote', { params })
      await reload()
      say('The new secret is the current one. The one before it signs for another day.')
    })

  const columns: Column<SigningSecret>[] = [
    { name: 'Fingerprint', show: one => <Fingerprint of={one} /> },
    { name: 'State', show: ({ state }) => <Badge tone={SECRET_STATES[state].tone}>{SECRET_STATES[state].name}</Badge> },
    { name: 'What it signs', show: ({ state }) => SECRET_STATES[state].meaning },
    { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Signs until', show: ({ expires_at }) => <Time at={expires_at} none="no end" /> },
  ]
  return (
    <Card
      title="Signatures"
      lead="Every event is signed, so that your backend can tell it from a forgery."
      actions={
        mayChange && (
          <>
            <Button
              busy={change.busy}
              onClick={() => (next ? setAsking('replace the new one') : change.run(() => rotate(false)))}
            >
              New signing secret
            </Button>
            <Button look="danger" onClick={() => setAsking('at once')}>
              Replace at once
            </Button>
          </>
        )
      }
    >
      {secret && <NewSecret value={secret} isNext={next !== undefined} onHide={() => onSecret(null)} />}
      <div class="api-keys-secrets">
        <Table
          caption="Secrets that sign events now"
          columns={columns}
          rows={endpoint.secrets}
          keyOf={({ id }) => id}
        />
      </div>
      {next && mayChange && (
        <div class="api-keys-promote">
          <p>
            <strong>Two secrets sign now.</strong> Give your backend the new one beside the current one, then promote
            it: it then signs <code>X-Webhook-Signature</code>, and the one before it signs{' '}
            <code>webhook-signature</code> for one more day.
          </p>
          <Button look="primary" busy={change.busy} onClick={promote}>
            Promote
          </Button>
        </div>
      )}
      {change.problem && <ProblemNotice problem={change.problem} />}
      <HowToVerify />

      {asking === 'replace the new one' && (
        <Confirm
          title="Make another one?"
          action="Make another"
          perform={() => rotate(false)}
          onClose={() => setAsking(null)}
        >
          <p>A new secret already waits to be promoted. Another one takes its place, and it signs nothing any more.</p>
        </Confirm>
      )}
      {asking === 'at once' && (
        <Confirm
          title="Replace the secret at once?"
          action="Replace now"
          perform={() => rotate(true)}
          onClose={() => setAsking(null)}
        >
          <p>
            For a secret that has leaked. The new one signs within five seconds. Until your backend knows it, your
            backend refuses events; those are sent again later.
          </p>
          <p>Take the old secret out of your backend as well: only that stops forgeries.</p>
        </Confirm>
      )}
    </Card>
  )
}

function Fingerprint({ of: { fingerprint } }: { of: SigningSecret }) {
  return fingerprint ? <code>{fingerprint}</code> : <span class="soft">cannot be opened</span>
}

function NewSecret({ value, isNext, onHide }: { value: string; isNext: boolean; onHide(): void }) {
  return (
    <div class="api-keys-new-secret">
      <ShownOnce label="Signing secret" value={value} />
      <div class="actions">
        <p class="hint">
          It is shown this once. Copy it into your backend
          {isNext ? ', beside the current one, then promote it.' : '.'}
        </p>
        <Button look="quiet" onClick={onHide}>
          Done
        </Button>
      </div>
    </div>
  )
}

function HowToVerify() {
  return (
    <details class="more api-keys-signature">
      <summary>How to verify a signature</summary>
      <ol>
        <li>
          Compute HMAC-SHA256 of <code>{'{X-Webhook-Timestamp}.{raw body}'}</code> with the secret as it stands,{' '}
          <code>whsec_</code> included.
        </li>
        <li>
          Compare it, in hex and in constant time, with <code>X-Webhook-Signature</code>. Refuse a timestamp more than
          five minutes off.
        </li>
        <li>
          Answer 2xx at once, and handle each event <code>id</code> once: an event may come again.
        </li>
      </ol>
      <CodeBlock label="Node.js" text={JAVASCRIPT_SIGNATURE_SAMPLE} />
      <p class="hint">
        The <code>webhook-*</code> headers follow Standard Webhooks, so its libraries work as they are. More in the{' '}
        <a href="/docs/webhooks" target="_blank" rel="noreferrer">
          API reference
        </a>
        .
      </p>
    </details>
  )
}
