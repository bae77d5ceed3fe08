// Sets the balance below which the owners of a company are told; without an amount they are not.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { editableMicros, formatMicros, parseAmount } from '../../data/amounts.ts'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useToast } from '../../ui/toasts.tsx'

export interface LowBalanceDialogProps {
  company: Schemas['Company']
  onDone(): Promise<void>
  onClose(): void
}

export function LowBalanceDialog({ company, onDone, onClose }: LowBalanceDialogProps) {
  const { low_balance_micros: before } = company
  const [amount, setAmount] = useState(before === null ? '' : editableMicros(before))
  const [wrong, setWrong] = useState<string | undefined>()
  const change = useChange()
  const say = useToast()

  async function save(): Promise<void> {
    const parsed = amount.trim() === '' ? null : parseAmount(amount)
    if (parsed && 'error' in parsed) return setWrong(parsed.error)
    if (parsed && parsed.micros <= 0) return setWrong('The amount must be above zero.')
    const low_balance_micros = parsed?.micros ?? null
    const done = await change.run(async () => {
      const params = { path: { id: company.id } }
      await bodyOf(api.PATCH('/admin/v1/companies/{id}', { params, body: { low_balance_micros } }))
      await onDone()
      say(
        low_balance_micros === null
          ? 'Nobody is told of a low balance any more.'
          : `Owners are told when the balance is below ${formatMicros(low_balance_micros)}.`,
      )
    })
    if (done) onClose()
  }
  return (
    <Dialog title="Low-balance notice" busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={save}>
        <TextField
          label="Tell owners below"
          value={amount}
          inputMode="text"
          placeholder="25.00"
          autofocus
          hint="A balance, such as 25 or 12.50. Empty: nobody is told. Owners are told once, and again only after the balance was 20 % above it. The Team screen shows who is told."
          error={wrong ?? change.errorOf('low_balance_micros')}
          onInput={text => {
            setAmount(text)
            setWrong(undefined)
          }}
        />
        <SubmitActions action="Save" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
