// Asks before an app or a company is deleted for good: its name must be typed, because a click is soon made and nothing brings it back.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'

export interface DeleteDialogProps {
  name: string
  /** The button's name, such as "Delete this app". */
  action: string
  /** What goes and what stays. */
  children: ComponentChildren
  perform(): Promise<void>
  onClose(): void
}

export function DeleteDialog({ name, action, children, perform, onClose }: DeleteDialogProps) {
  const [typed, setTyped] = useState('')
  const change = useChange()
  const remove = async () => {
    if (await change.run(perform)) onClose()
  }
  return (
    <Dialog title={`Delete ${name} for good?`} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={remove}>
        <div class="prose">{children}</div>
        <TextField label="Its name" hint={`Type ${name} to confirm.`} value={typed} onInput={setTyped} autofocus />
        <SubmitActions
          action={action}
          look="danger"
          busy={change.busy}
          disabled={typed.trim() !== name.trim()}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  )
}

/** Whether the 30 days since it was closed are over. */
export const isDeletable = ({ deletable_at }: { deletable_at: string | null }): boolean =>
  deletable_at !== null && Date.parse(deletable_at) <= Date.now()
