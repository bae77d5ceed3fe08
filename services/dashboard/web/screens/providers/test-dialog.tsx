// Tests a provider with a real message. In: the provider and a recipient. Out: what the vendor said, in words, with the
// raw values beside them.

import { useState } from 'preact/hooks'
import { SAMPLE_NUMBER } from '../../../../../machines/sample-number.ts'
import type { Schemas } from '../../api/client.ts'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog } from '../../ui/dialog.tsx'
import { Fact } from '../../ui/fact.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type Provider, testProvider } from './provider-calls.ts'
import { testWords } from './provider-words.ts'

interface Result {
  test: Schemas['ProviderTest']
  recipient: string
}

export function TestDialog({ provider, onClose }: { provider: Provider; onClose(): void }) {
  const { name, channel, type } = provider
  const app = useApp()
  const change = useChange()
  const [recipient, setRecipient] = useState('')
  const [result, setResult] = useState<Result | null>(null)
  const send = () =>
    change.run(async () => {
      const to = recipient.trim()
      setResult(null)
      setResult({ test: await testProvider(app.id, name, to), recipient: to })
    })
  const isMail = channel === 'email'
  return (
    <Dialog title={`Test ${name}`} busy={change.busy} onClose={onClose}>
      <p class="soft">
        Sends one real message with a made-up code through this provider alone. It costs as much as any message, and is
        given back if the vendor does not accept it. A company has 20 tests a day. It is in the audit log.
      </p>
      <Form change={change} onSubmit={send}>
        <TextField
          label="Recipient"
          type={isMail ? 'email' : 'tel'}
          hint={isMail ? 'An email address of yours.' : `A phone of yours, with its country code: ${SAMPLE_NUMBER}.`}
          value={recipient}
          onInput={setRecipient}
          error={change.errorOf('recipient')}
          autofocus
        />
        <Actions>
          <Button look="primary" type="submit" busy={change.busy}>
            Send test message
          </Button>
          {change.busy && <span class="soft">Waiting for the vendor…</span>}
        </Actions>
      </Form>
      {result && <Answer {...result} type={type} />}
    </Dialog>
  )
}

function Answer({ test, recipient, type }: Result & { type: Provider['type'] }) {
  const { tone, title, sentences } = testWords(test, type, recipient)
  return (
    <div class="providers-answer">
      <Notice tone={tone}>
        <strong>{title}</strong>
        {sentences.map(sentence => (
          <p key={sentence}>{sentence}</p>
        ))}
      </Notice>
      <dl class="providers-values">
        <Fact name="Outcome">{test.outcome}</Fact>
        <Fact name="HTTP status">{test.http_status ?? 'none'}</Fact>
        <Fact name="Vendor code">{test.vendor_code ?? 'none'}</Fact>
        <Fact name="Vendor text">{test.vendor_text ?? 'none'}</Fact>
        <Fact name="Time">{test.ms} ms</Fact>
      </dl>
    </div>
  )
}
