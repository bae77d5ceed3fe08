// Asks for the name of something new or renamed, such as an app or a key.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useChange } from '../data/use-change.ts'
import { Dialog, SubmitActions } from './dialog.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'

export interface NameDialogProps {
  title: string
  hint: ComponentChildren
  /** The name as it is now. */
  name?: string
  /** The button's name, such as "Create app". */
  action: string
  perform(name: string): Promise<void>
  onClose(): void
}

export function NameDialog({ title, hint, name: before = '', action, perform, onClose }: NameDialogProps) {
  const [name, setName] = useState(before)
  const change = useChange()
  const save = async () => {
    if (await change.run(() => perform(name))) onClose()
  }
  return (
    <Dialog title={title} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={save}>
        <TextField label="Name" hint={hint} value={name} onInput={setName} error={change.errorOf('name')} autofocus />
        <SubmitActions action={action} busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
