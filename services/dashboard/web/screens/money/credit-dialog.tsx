// Credits a company: an amount and a note, then the new balance to confirm. A negative amount takes an earlier credit back.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { formatChange, formatMicros, parseAmount } from './amounts.ts'

export interface CreditDialogProps {
  company: Schemas['Company'] & { balance: number }
  onDone(): Promise<void>
  onClose(): void
}

/** The key names one credit, so that a repeated call after a lost answer enters it once. Another amount or note is another credit. */
interface NamedCredit {
  key: string
  micros: number
  note: string | null
}

const newKey = (): string => [...crypto.getRandomValues(new Uint32Array(4))].map(part => part.toString(36)).join('-')

export function CreditDialog({ company, onDone, onClose }: CreditDialogProps) {
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [wrong, setWrong] = useState<string | undefined>()
  const [micros, setMicros] = useState<number | null>(null)
  const change = useChange()
  const say = useToast()
  // Also after “Back”: the answer to the first call may be lost, and the credit entered.
  const last = useRef<NamedCredit | null>(null)

  const reviewed = useRef<HTMLDivElement>(null)
  // The button that had the focus is gone.
  useEffect(() => {
    if (micros !== null) reviewed.current?.focus()
  }, [micros])

  function review(): void {
    const parsed = parseAmount(amount)
    change.reset()
    if ('error' in parsed) setWrong(parsed.error)
    else if (parsed.micros === 0) setWrong('The amount must not be zero.')
    else if (company.balance + parsed.micros < 0) setWrong('That is more than there is to take back.')
    else setMicros(parsed.micros)
  }
  async function enter(credit: number): Promise<void> {
    const done = await change.run(async () => {
      const body = { micros: credit, note: note.trim() || null }
      if (last.current?.micros !== body.micros || last.current.note !== body.note)
        last.current = { key: newKey(), ...body }
      const params = { path: { id: company.id }, header: { 'idempotency-key': last.current.key } }
      const { balance } = await bodyOf(api.POST('/admin/v1/companies/{id}/credit', { params, body }))
      await onDone()
      say(`The balance is now ${formatMicros(balance)}.`)
    })
    if (done) onClose()
  }
  return (
    <Dialog title={`Credit ${company.name}`} onClose={onClose}>
      {micros === null ? (
        <Form change={change} onSubmit={review}>
          <TextField
            label="Amount"
            value={amount}
            inputMode="text"
            placeholder="100.00"
            autofocus
            hint="A decimal, such as 100 or 12.50. With a minus it takes an earlier credit back."
            error={wrong ?? change.errorOf('micros')}
            onInput={text => {
              setAmount(text)
              setWrong(undefined)
            }}
          />
          <TextField
            label="Note"
            value={note}
            placeholder="Invoice 17"
            hint="Optional. It stands in the ledger."
            error={change.errorOf('note')}
            onInput={setNote}
          />
          <SubmitActions action="Continue" onCancel={onClose} />
        </Form>
      ) : (
        <Form change={change} onSubmit={() => void enter(micros)}>
          <div ref={reviewed} tabIndex={-1}>
            <dl class="money-review">
              <dt>Balance now</dt>
              <dd>{formatMicros(company.balance)}</dd>
              <dt>Credit</dt>
              <dd>{formatChange(micros)}</dd>
              <dt>New balance</dt>
              <dd>
                <strong>{formatMicros(company.balance + micros)}</strong>
              </dd>
            </dl>
          </div>
          {note.trim() && <p class="soft">Note: {note.trim()}</p>}
          <Actions>
            <Button look="primary" type="submit" busy={change.busy}>
              Enter credit
            </Button>
            <Button onClick={() => setMicros(null)}>Back</Button>
          </Actions>
        </Form>
      )}
    </Dialog>
  )
}
