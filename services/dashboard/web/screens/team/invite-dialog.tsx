// Invites a person. Where no mail was sent, the inviting person passes the address of the dashboard on.
import { useState } from 'preact/hooks'
import { SIGN_IN_PATH } from '../../../screens.ts'
import { api, bodyOf } from '../../api/client.ts'
import { useCompany } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Actions, Dialog, SubmitActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { RadioGroup } from '../../ui/radio-group.tsx'
import { ROLE_WORDS, type UserRole } from './roles.ts'

export interface InviteDialogProps {
  /** The first person of a company is best an owner. */
  isFirst: boolean
  onInvited(): Promise<void>
  onClose(): void
}

export function InviteDialog({ isFirst, onInvited, onClose }: InviteDialogProps) {
  const company = useCompany()
  const change = useChange()
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<UserRole>(isFirst ? 'owner' : 'developer')
  const [invited, setInvited] = useState<{ email: string; mailed: boolean } | null>(null)
  const invite = () =>
    change.run(async () => {
      const user = await bodyOf(
        api.POST('/admin/v1/companies/{id}/users', {
          params: { path: { id: company.id } },
          body: { email, role, ...(name.trim() === '' ? {} : { name: name.trim() }) },
        }),
      )
      setInvited({ email: user.email ?? email, mailed: user.mailed })
      await onInvited()
    })
  if (invited !== null) return <Invited {...invited} onClose={onClose} />
  return (
    <Dialog title={`Invite a person to ${company.name}`} busy={change.busy} onClose={onClose}>
      <Form change={change} onSubmit={invite}>
        <TextField
          label="Email"
          type="email"
          hint="The codes for signing in come to this address."
          value={email}
          onInput={setEmail}
          error={change.errorOf('email')}
          autofocus
        />
        <TextField
          label="Name"
          hint="Optional."
          value={name}
          onInput={setName}
          error={change.errorOf('name')}
          autocomplete="off"
        />
        <RadioGroup<UserRole> label="Role" value={role} options={ROLE_WORDS} onChange={setRole} />
        <SubmitActions action="Invite" busy={change.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

function Invited({ email, mailed, onClose }: { email: string; mailed: boolean; onClose(): void }) {
  const address = `${location.origin}${SIGN_IN_PATH}`
  return (
    <Dialog title="Invited" onClose={onClose}>
      <div class="prose" role="status">
        <p>
          <strong>{email}</strong> is invited for 14 days.{' '}
          {mailed ? 'A mail was sent.' : 'No message was sent: pass the address on.'} The person signs in there, and
          presses Accept.
        </p>
      </div>
      <div class="team-address">
        <TextField label="Sign-in address" value={address} readOnly monospace />
        <CopyButton text={address} />
      </div>
      <Actions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </Actions>
    </Dialog>
  )
}
