// Changes the role of a user. It counts from the user's next request on.
import { useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useMe } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { Form } from '../../ui/form.tsx'
import { Notice } from '../../ui/notice.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { personOf, ROLE_WORDS, roleLabel, type UserRole } from './roles.ts'

type User = Schemas['User']

export interface RoleDialogProps {
  user: User
  onChanged(user: User): Promise<void>
  onClose(): void
}

export function RoleDialog({ user, onChanged, onClose }: RoleDialogProps) {
  const me = useMe()
  const change = useChange()
  const say = useToast()
  const [role, setRole] = useState(user.role)
  const person = personOf(user)
  const save = async () => {
    const saved = await change.run(async () => {
      const answer = await bodyOf(
        api.PATCH('/admin/v1/users/{id}', { params: { path: { id: user.id } }, body: { role } }),
      )
      say(`${person} is ${role === 'owner' ? 'an' : 'a'} ${roleLabel(role).toLowerCase()} now.`)
      await onChanged(answer)
    })
    if (saved) onClose()
  }
  return (
    <Dialog title={`Role of ${person}`} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={save}>
        <RadioGroup<UserRole> label="Role" value={role} options={ROLE_WORDS} onChange={setRole} />
        {user.id === me.id && role !== 'owner' && (
          <Notice tone="warning">This is you: afterwards only another owner can make you an owner again.</Notice>
        )}
        <SubmitActions action="Save" busy={change.busy} disabled={role === user.role} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
