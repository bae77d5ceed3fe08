// Sets how many apps and users a company may have.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useToast } from '../../ui/toasts.tsx'

export interface NumbersDialogProps {
  company: Schemas['Company']
  onDone(): Promise<void>
  onClose(): void
}

export function NumbersDialog({ company, onDone, onClose }: NumbersDialogProps) {
  const [apps, setApps] = useState(String(company.max_apps))
  const [users, setUsers] = useState(String(company.max_users))
  const change = useChange()
  const say = useToast()

  async function save(): Promise<void> {
    const done = await change.run(async () => {
      const body = { max_apps: Number(apps), max_users: Number(users) }
      await bodyOf(api.PATCH('/admin/v1/companies/{id}', { params: { path: { id: company.id } }, body }))
      await onDone()
      say(`${company.name} may have ${apps} apps and ${users} users.`)
    })
    if (done) onClose()
  }
  return (
    <Dialog title="Apps and users" busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={save}>
        <TextField
          label="Apps at most"
          value={apps}
          inputMode="numeric"
          autofocus
          hint="Closed apps count too."
          error={change.errorOf('max_apps')}
          onInput={setApps}
        />
        <TextField
          label="Users at most"
          value={users}
          inputMode="numeric"
          hint="Invitations count too."
          error={change.errorOf('max_users')}
          onInput={setUsers}
        />
        <SubmitActions action="Save" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
