// The dialog that gives a key another name.
import { useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { type ApiKey, maskedKey } from './key-text.ts'

export interface RenameKeyProps {
  of: ApiKey
  onRenamed(): Promise<void>
  onClose(): void
}

export function RenameKey({ of: key, onRenamed, onClose }: RenameKeyProps) {
  const [name, setName] = useState(key.name ?? '')
  const change = useChange()
  const rename = async () => {
    const renamed = await change.run(async () => {
      await api.PATCH('/admin/v1/keys/{id}', {
        params: { path: { id: key.id } },
        body: { name: name.trim() || null },
      })
      await onRenamed()
    })
    if (renamed) onClose()
  }
  return (
    <Dialog title="Rename" busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={rename}>
        <TextField
          label="Name"
          hint={
            <>
              Of the key <code>{maskedKey(key)}</code>. Calls with it do not change.
            </>
          }
          value={name}
          onInput={setName}
          error={change.errorOf('name')}
          autofocus
        />
        <SubmitActions action="Save name" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
