// Credits a company: an amount and a note, then the new balance to confirm. A negative amount takes an earlier credit back.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type CallOptions, type Schemas } from '../../api/client.ts'
import { editableMicros, formatChange, formatMicros, parseAmount } from '../../data/amounts.ts'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Actions, Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { Switch, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { useToast } from '../../ui/toasts.tsx'
import {
  isCertainlyNotEntered,
  type NamedCredit,
  nameCredit,
  readUnanswered,
  storeUnanswered,
} from './unanswered-credit.ts'

export interface CreditDialogProps {
  company: Schemas['Company']
  onDone(): Promise<void>
  onClose(): void
}

const UNUSUAL_FACTOR = 10
/** The newest that a page has. */
const CREDITS_READ = 100

/** Null where there is none. */
async function readLargestCredit(id: string, call: CallOptions): Promise<number | null> {
  const query = { kind: 'credit', limit: CREDITS_READ } as const
  const { items } = await bodyOf(
    api.GET('/admin/v1/companies/{id}/ledger', { params: { path: { id }, query }, ...call }),
  )
  return items.reduce<number | null>((most, { micros }) => (micros > (most ?? 0) ? micros : most), null)
}

export function CreditDialog({ company, onDone, onClose }: CreditDialogProps) {
  const [unanswered, setUnanswered] = useState(() => readUnanswered(company.id))
  const [amount, setAmount] = useState(unanswered ? editableMicros(unanswered.micros) : '')
  const [note, setNote] = useState(unanswered?.note ?? '')
  const [wrong, setWrong] = useState<string | undefined>()
  const [noteMissing, setNoteMissing] = useState(false)
  const [micros, setMicros] = useState<number | null>(null)
  const [confirmed, setConfirmed] = useState(false)
  const largest = useQuery(`largest credit ${company.id}`, call => readLargestCredit(company.id, call)).data ?? null
  const isUnusual = micros !== null && largest !== null && micros > UNUSUAL_FACTOR * largest
  const change = useChange()
  const say = useToast()
  const reviewed = useRef<HTMLDivElement>(null)
  // The button that had the focus is gone.
  useEffect(() => {
    if (micros !== null) reviewed.current?.focus()
  }, [micros])

  function keep(credit: NamedCredit | null): void {
    setUnanswered(credit)
    storeUnanswered(company.id, credit)
  }
  function review(): void {
    const parsed = parseAmount(amount)
    change.reset()
    if ('error' in parsed) setWrong(parsed.error)
    else if (parsed.micros === 0) setWrong('The amount must not be zero.')
    else if (parsed.micros < 0 && company.balance + parsed.micros < 0)
      setWrong('That is more than there is to take back.')
    else if (note.trim() === '') setNoteMissing(true)
    else setMicros(parsed.micros)
  }
  function back(): void {
    change.reset()
    setMicros(null)
    setConfirmed(false)
  }
  async function enter(credit: number): Promise<void> {
    const done = await change.run(async () => {
      const body = { micros: credit, note: note.trim() }
      const named = nameCredit(body, unanswered)
      keep(named)
      const params = { path: { id: company.id }, header: { 'idempotency-key': named.key } }
      const { balance } = await bodyOf(api.POST('/admin/v1/companies/{id}/credit', { params, body })).catch(thrown => {
        if (isCertainlyNotEntered(thrown, named === unanswered)) keep(null)
        throw thrown
      })
      keep(null)
      await onDone()
      say(`The balance is now ${formatMicros(balance)}.`)
    })
    if (done) onClose()
  }
  return (
    <Dialog title={`Credit ${company.name}`} busy={change.busy} onClose={onClose}>
      {micros === null ? (
        <Form change={change} onSubmit={review}>
          {unanswered && (
            <Notice tone="warning">
              It is not known whether the credit of {formatMicros(unanswered.micros)} was entered: its answer did not
              come. With the same amount and note it is entered once, however often you try.
            </Notice>
          )}
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
            hint="Why. It appears in the ledger and on the statement."
            error={noteMissing ? 'Enter a note, such as the number of the invoice.' : change.errorOf('note')}
            onInput={text => {
              setNote(text)
              setNoteMissing(false)
            }}
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
          <p class="soft">Note: {note.trim()}</p>
          {isUnusual && (
            <Notice tone="warning">
              <p>
                This is more than ten times the largest credit so far, which was {formatMicros(largest)}. Is it right?
              </p>
              <Switch label="The amount is right" checked={confirmed} onChange={setConfirmed} />
            </Notice>
          )}
          <Actions>
            <Button look="primary" type="submit" busy={change.busy} disabled={isUnusual && !confirmed}>
              Enter credit
            </Button>
            <Button disabled={change.busy} onClick={back}>
              Back
            </Button>
          </Actions>
        </Form>
      )}
    </Dialog>
  )
}
