// The users of the company, and those who are invited. Owners invite them, change their roles and remove them; the others see them.
import { useState } from 'preact/hooks'
import { CONSOLE_COMPANY_ID } from '../../../../domain/tenancy/console.ts'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay, useMe, useSessionControl } from '../../data/session.tsx'
import { useCompany } from '../../data/tenant.tsx'
import { usePages } from '../../data/use-pages.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { type Column, RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { personOf, roleLabel } from './roles.ts'

type User = Schemas['User']

type Open = { what: 'invite' } | { what: 'role' | 'remove'; user: User } | null

const nameId = ({ id }: User): string => `name-of-${id}`

export function PeopleCard() {
  const company = useCompany()
  const me = useMe()
  const { check } = useSessionControl()
  const isConsole = company.id === CONSOLE_COMPANY_ID
  const mayChange = useMay('owner') && !isConsole
  const [open, setOpen] = useState<Open>(null)
  const say = useToast()
  const close = () => setOpen(null)
  const users = usePages(`users ${company.id}`, (query, call) =>
    bodyOf(api.GET('/admin/v1/companies/{id}/users', { params: { path: { id: company.id }, query }, ...call })),
  )

  const columns: Column<User>[] = [
    {
      name: 'Person',
      show: user => (
        <div class="team-person">
          <span>
            <span id={nameId(user)}>{user.name ?? user.email ?? <code>{user.id}</code>}</span>{' '}
            {user.id === me.id && <Badge tone="info">You</Badge>}{' '}
            {user.invited_until !== null && <Badge tone="warning">Invited</Badge>}
          </span>
          {user.name !== null && user.email !== null && <span class="soft">{user.email}</span>}
        </div>
      ),
    },
    { name: 'Role', show: user => roleLabel(user.role) },
    { name: 'Last sign-in', show: user => <Time at={user.last_sign_in_at} /> },
    {
      name: 'Invited',
      show: ({ created_at, invited_until }) => (
        <div class="team-person">
          <Time at={created_at} day />
          {invited_until !== null && (
            <span class="soft">
              until <Time at={invited_until} day />
            </span>
          )}
        </div>
      ),
    },
  ]
  if (mayChange)
    columns.push({
      name: 'Actions',
      quiet: true,
      align: 'right',
      show: user => (
        <RowActions>
          <Button look="quiet" aria-describedby={nameId(user)} onClick={() => setOpen({ what: 'role', user })}>
            Change role
          </Button>
          <Button look="quiet danger" aria-describedby={nameId(user)} onClick={() => setOpen({ what: 'remove', user })}>
            {user.invited_until === null ? 'Remove' : 'Revoke'}
          </Button>
        </RowActions>
      ),
    })

  const changed = async (user: User) => {
    await users.reload()
    // The viewer's own role decides what the screens offer.
    if (user.id === me.id) await check()
  }
  const remove = async (user: User) => {
    await bodyOf(api.DELETE('/admin/v1/users/{id}', { params: { path: { id: user.id } } }))
    say(user.invited_until === null ? `${personOf(user)} was removed.` : 'The invitation was revoked.')
    await changed(user)
  }

  return (
    <Card
      title="People"
      lead={isConsole ? CONSOLE_WORDS : mayChange ? undefined : onlyRole('owner', 'invite people and change roles')}
      actions={
        mayChange && (
          <Button look="primary" onClick={() => setOpen({ what: 'invite' })}>
            Invite person
          </Button>
        )
      }
    >
      <PagedTable
        caption="people"
        columns={columns}
        pages={users}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No one has been invited yet.">
            {mayChange && 'Invite the first owner: an owner can invite the others.'}
          </Empty>
        }
      />
      {open?.what === 'invite' && (
        <InviteDialog isFirst={users.data?.items.length === 0} onInvited={users.reload} onClose={close} />
      )}
      {open?.what === 'role' && <RoleDialog user={open.user} onChanged={changed} onClose={close} />}
      {open?.what === 'remove' && open.user.invited_until !== null && (
        <Confirm
          title={`Revoke the invitation of ${personOf(open.user)}?`}
          action="Revoke invitation"
          perform={() => remove(open.user)}
          onClose={close}
        >
          <p>It can no longer be accepted. You can invite the person again.</p>
        </Confirm>
      )}
      {open?.what === 'remove' && open.user.invited_until === null && (
        <Confirm
          title={`Remove ${personOf(open.user)}?`}
          action="Remove person"
          perform={() => remove(open.user)}
          onClose={close}
        >
          <p>
            {open.user.id === me.id
              ? 'This is you: your sessions end at once, and you cannot come back unless another owner invites you.'
              : 'All sessions of this person in this company end at once. What the person did stays in the audit log.'}
          </p>
        </Confirm>
      )}
    </Card>
  )
}

const CONSOLE_WORDS =
  'The console has no users of its own: they could read the codes with which others sign in. Choose another company to invite people.'
