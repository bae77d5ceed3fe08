// The invitations of the person who is signed in, with Accept and Decline: above every screen, or alone for a person in no company yet.
// Accepting leads into the company.
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { api, bodyOf, type Schemas } from '../api/client.ts'
import { useMe, useSessionControl } from '../data/session.tsx'
import { useChange } from '../data/use-change.ts'
import { Button } from '../ui/button.tsx'
import { Actions } from '../ui/dialog.tsx'
import { Notice, ProblemNotice } from '../ui/notice.tsx'
import { useToast } from '../ui/toasts.tsx'

export function Invitations() {
  const { invitations } = useMe()
  return (
    <>
      {invitations.map(invitation => (
        <OneInvitation key={invitation.id} {...invitation} />
      ))}
    </>
  )
}

function OneInvitation({ id, company_name, role }: Schemas['Invitation']) {
  const { begin, end } = useSessionControl()
  const { route } = useLocation()
  const say = useToast()
  const change = useChange()
  const params = { path: { id } }
  const accept = () =>
    change.run(async () => {
      const me = await bodyOf(api.POST('/admin/v1/invitations/{id}/accept', { params }))
      route('/overview', true)
      begin(me)
      say(`You are in ${company_name} now.`)
    })
  const decline = () =>
    change.run(async () => {
      const { me } = await bodyOf(api.POST('/admin/v1/invitations/{id}/decline', { params }))
      say(`The invitation to ${company_name} was declined.`)
      if (me === null) end()
      else begin(me)
    })
  return (
    <Notice>
      <p>
        <strong>{company_name}</strong> invites you as {role === 'owner' ? 'an' : 'a'} {role}.
      </p>
      {change.problem && <ProblemNotice problem={change.problem} />}
      <Actions>
        <Button look="primary" busy={change.busy} onClick={accept}>
          Accept
        </Button>
        <Button busy={change.busy} onClick={decline}>
          Decline
        </Button>
      </Actions>
    </Notice>
  )
}

export function InvitationsAlone() {
  const { email } = useMe()
  const { signOut } = useSessionControl()
  const leaving = useChange()
  useEffect(() => {
    document.title = 'Invitations · Countersign'
  }, [])
  return (
    <main class="alone">
      <h1>Your invitations</h1>
      <p class="soft">You are signed in as {email}. Accept an invitation to enter its company.</p>
      <Invitations />
      {leaving.problem && <ProblemNotice problem={leaving.problem} />}
      <Button look="quiet" busy={leaving.busy} onClick={() => leaving.run(signOut)}>
        Sign out
      </Button>
    </main>
  )
}
