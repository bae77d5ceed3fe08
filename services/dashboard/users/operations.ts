// Who of a company may use the dashboard. Inviting stores a user that grants nothing until the person accepts (sign-in/invitations.ts), and
// tells nothing about what the person is elsewhere. A company does not lose its last owner through its own users: then none of them could
// invite another.
// Users whose MAC was made with a code secret that is gone, or who have none, are stamped by an operator, who looks at each: a document
// that anybody with access to the store could write must not become a user by itself.
import { z } from 'zod'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { documentRefusal } from '../../domain/openapi/refusals.ts'
import { CONSOLE_COMPANY_ID } from '../../domain/tenancy/console.ts'
import { hasConsoleMail } from '../../domain/tenancy/console-mail.ts'
import { MAX_USERS } from '../../domain/tenancy/documents.ts'
import { text } from '../../domain/tenancy/value-schemas.ts'
import {
  emailIndex,
  findUsersByEmail,
  INVITATION_MS,
  isInvitation,
  type UserDoc,
  userContext,
} from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'
import { isSameMailbox } from '../../domain/users/people.ts'
import { type AdminRequest, principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, noContent, ok, page } from '../answers.ts'
import { emailAddress } from '../email-address.ts'
import { operationWith } from '../operation.ts'
import { pageQuery } from '../pages.ts'
import { getOr404 } from '../request-input.ts'
import { MAX_PASSKEYS } from '../sign-in/passkeys/passkeys.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { auditFieldsOf } from '../user-audit-fields.ts'
import { userRole } from '../user-role.schemas.ts'
import type { InvitationLimit } from './invitation-limit.ts'
import { type InvitationMailDeps, sendInvitationMail } from './invitation-mail.ts'
import { invitation, type UserAnswer, unstampedUsers, user, userPage } from './schemas.ts'

const inviteBody = z.strictObject({ email: emailAddress, role: userRole, name: text(100).nullable().default(null) })
type Offer = Omit<z.output<typeof inviteBody>, 'email'>

const MAX_STAMPED_AT_ONCE = 100
/** More than a company has. */
const MAX_OWNERS_READ = 10_000

/** The name of the lease under which the users of a company change: neither an address nor the place of the last owner may be taken twice.
 *  Every company has its own, so that none can keep another from changing its users. */
const usersChange = (company_id: string): string => `users:${company_id}`

export interface UserDeps extends AdminDeps, Pick<InvitationMailDeps, 'sendMail' | 'publicUrl'> {
  sessions: Pick<Sessions, 'endAllOf'>
  grants: Grants
  invitationLimit: InvitationLimit
}

const operation = operationWith<UserDeps>()

const example: UserAnswer = {
  id: 'usr_01k2m8x4e9s7v3hqz5tnw6yb0c',
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'developer',
  invited_until: '2030-01-15T12:00:00.000Z',
  created_at: '2030-01-01T12:00:00.000Z',
  last_sign_in_at: null,
}

const LAST_OWNER = conflict('A company keeps at least one owner.')

export const userOperations = [
  operation({
    id: 'listUsers',
    request: 'GET /companies/{id}/users',
    role: 'viewer',
    summary: "List a company's users",
    description: 'By id. Invitations are among them.',
    query: pageQuery,
    answers: [page(userPage, 'A page of users.', example)],
    handle: ({ ctx, company, query }, deps) => {
      const show = (user: UserDoc) => userView(deps, user)
      return deps.readPage(ctx, { docs: deps.store.docs('users'), filter: { company_id: company._id }, show }, query)
    },
  }),
  operation({
    id: 'inviteUser',
    request: 'POST /companies/{id}/users',
    role: 'owner',
    stepUp: true,
    summary: 'Invite a user',
    description:
      'The person signs in with a code that comes to this address, and accepts. Until then, at most 14 days, the invitation grants nothing. Inviting an address again renews its invitation. Nothing tells whether the address is a user of another company. The users of a company make 20 invitations a day at most, and 3 to one address. Where the deployment has an email provider, the person is told by mail; those of operators are mailed up to the same limits.',
    body: {
      schema: inviteBody.meta({ id: 'InviteUserRequest', description: 'A new user.' }),
      example: { email: 'ada@example.com', role: 'developer', name: 'Ada' },
    },
    answers: [ok(invitation, 'The invitation.', { ...example, mailed: true }, 201)],
    refusals: [conflict('The address is a user of this company already, or it has as many users as it may have.')],
    handle: async ({ ctx, company, body: { email, ...offered } }, deps) => {
      const { store, keyring, tenancy, withAudit, changeExclusively, invitationLimit } = deps
      const company_id = company._id
      if (company_id === CONSOLE_COMPANY_ID)
        throw httpException(409, 'The console has no users: they could read the codes with which others sign in.')
      // Operators bring in whole companies; a user could otherwise invite strangers without end.
      const counted = principalOf(ctx).user_id === null ? null : await invitationLimit.take(company_id, email)
      const invited = await changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          // Under every data key: the unique index knows an address under one of them.
          const [stored] = await findUsersByEmail(store, keyring, email, company_id)
          if (stored && !isInvitation(stored)) throw addressTaken()
          const { max_users = MAX_USERS } = company
          if (!stored && (await store.docs('users').count({ company_id }, max_users)) >= max_users)
            throw httpException(409, `The company may have ${max_users} users. An operator can let it have more.`)
          const user = stored ? renewed(deps, stored, email, offered) : newInvitation(deps, company_id, email, offered)
          return {
            action: 'invitation.create',
            target: user._id,
            company_id,
            before: stored ? auditFieldsOf(keyring, stored) : null,
            after: auditFieldsOf(keyring, user),
            perform: async () => {
              await renewLease()
              return (await save(deps, stored, user)) ? userView(deps, user) : null
            },
          }
        }),
      ).catch(async error => {
        await counted?.giveBack()
        throw error
      })
      const mayMail = async () => {
        if (!(await hasConsoleMail(tenancy))) return false
        return (
          counted !== null ||
          invitationLimit.take(company_id, email).then(
            () => true,
            () => false,
          )
        )
      }
      const mail = { user_id: invited.id, recipient: invited.email ?? email, company }
      return { ...invited, mailed: (await mayMail()) && (await sendInvitationMail(deps, mail, traceOf(ctx))) }
    },
  }),
  operation({
    id: 'changeUser',
    request: 'PATCH /users/{id}',
    role: 'owner',
    stepUp: true,
    summary: "Change a user's role",
    description: 'It counts from the next call on.',
    body: {
      schema: z.strictObject({ role: userRole }).meta({ id: 'ChangeUserRequest', description: 'Changes a user.' }),
      example: { role: 'owner' },
    },
    answers: [ok(user, 'The user.', { ...example, role: 'owner', invited_until: null })],
    refusals: [LAST_OWNER],
    handle: ({ ctx, user: { _id, company_id }, body: { role } }, deps) => {
      const { store, keyring, grants, withAudit, changeExclusively } = deps
      const users = store.docs('users')
      return changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, _id, 'user')
          if (stored.role === role) return { unchanged: userView(deps, stored) }
          await requireAnotherOwner(deps, ctx, stored)
          // A new MAC would make good what an attacker has written.
          if (!grants.isGenuine('users', stored)) throw notGenuine()
          const { rev } = stored
          const user = grants.stamp('users', { ...stored, role })
          return {
            action: actionOn(stored, 'change'),
            target: _id,
            company_id,
            before: auditFieldsOf(keyring, stored),
            after: auditFieldsOf(keyring, user),
            perform: async () => {
              await renewLease()
              return (await changeOne(users, { _id, rev, update: { $set: { role, mac: user.mac } } }))
                ? userView(deps, user)
                : null
            },
          }
        }),
      )
    },
  }),
  operation({
    id: 'listUnstampedUsers',
    request: 'GET /users/unstamped',
    role: 'operator',
    summary: 'List users without a stamp',
    description:
      'Users whose stamp was made with a code secret that is gone, or who have none. They cannot sign in. At most 100.',
    answers: [ok(unstampedUsers, 'The users.', { items: [example] })],
    handle: async (_, deps) => {
      const items: UserAnswer[] = []
      for await (const user of scanAll(deps.store.docs('users'))) {
        if (isUnstamped(deps, user)) items.push(userView(deps, user))
        if (items.length === MAX_STAMPED_AT_ONCE) break
      }
      return { items }
    },
  }),
  operation({
    id: 'stampUsers',
    request: 'POST /users/stamp',
    role: 'operator',
    stepUp: true,
    summary: 'Stamp users',
    description:
      'Lets these users sign in. Look at their addresses, companies and roles first: who can write to the store can add a user without a stamp.',
    body: {
      schema: z
        .strictObject({ ids: z.array(z.string().max(100)).min(1).max(MAX_STAMPED_AT_ONCE) })
        .meta({ id: 'StampUsersRequest', description: 'The users to stamp.' }),
      example: { ids: [example.id] },
    },
    answers: [ok(unstampedUsers, 'Those that were without a stamp, and have one now.', { items: [example] })],
    refusals: [documentRefusal('One of them does not exist. Those named before it are stamped.', httpException(404))],
    handle: async ({ ctx, body: { ids } }, deps) => {
      const users = deps.store.docs('users')
      const items: UserAnswer[] = []
      for (const id of new Set(ids)) {
        const stamped = await deps.withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, id, 'user')
          if (!isUnstamped(deps, stored)) return { unchanged: null }
          const user = deps.grants.stamp('users', stored)
          return {
            action: 'user.stamp',
            target: id,
            company_id: stored.company_id,
            before: null,
            after: auditFieldsOf(deps.keyring, user),
            perform: async () => {
              return (await changeOne(users, { _id: id, rev: stored.rev, update: { $set: { mac: user.mac } } }))
                ? userView(deps, user)
                : null
            },
          }
        })
        if (stamped) items.push(stamped)
      }
      return { items }
    },
  }),
  operation({
    id: 'deleteUser',
    request: 'DELETE /users/{id}',
    role: 'owner',
    stepUp: true,
    summary: 'Delete a user',
    description: 'Or revoke an invitation. The sessions of the user in this company end.',
    answers: [noContent('The user is deleted.')],
    refusals: [LAST_OWNER],
    handle: async ({ ctx, user: { _id, company_id } }, deps) => {
      const { store, keyring, sessions, withAudit, changeExclusively } = deps
      const users = store.docs('users')
      await changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, _id, 'user')
          await requireAnotherOwner(deps, ctx, stored)
          return {
            action: actionOn(stored, 'delete'),
            target: _id,
            company_id,
            before: auditFieldsOf(keyring, stored),
            after: null,
            perform: async () => {
              await renewLease()
              return (await users.remove({ _id, rev: stored.rev }, 1)) === 1 ? stored : null
            },
          }
        }),
      )
      // After the user: a session or passkey without its user is refused, so a crash here leaves no way in.
      await sessions.endAllOf({ user_ids: [_id] })
      await store.docs('passkeys').remove({ user_id: _id }, MAX_PASSKEYS)
    },
  }),
]

const emailOf = ({ keyring }: UserDeps, { _id, sealed_email }: UserDoc): string | null =>
  unsealOrNull(keyring, sealed_email, userContext.email(_id))

/** Email and name are null when their data key is not configured now. */
const userView = (deps: UserDeps, user: UserDoc): UserAnswer => ({
  id: user._id,
  company_id: user.company_id,
  email: emailOf(deps, user),
  name: user.sealed_name === null ? null : unsealOrNull(deps.keyring, user.sealed_name, userContext.name(user._id)),
  role: user.role,
  invited_until: isoTimeOrNull(user.invited_until ?? null),
  created_at: isoTime(user.created_at),
  last_sign_in_at: isoTimeOrNull(user.last_sign_in_at),
})

const actionOn = (user: UserDoc, verb: 'change' | 'delete'): string =>
  `${isInvitation(user) ? 'invitation' : 'user'}.${verb}`

/** What an invitation offers, and until when. */
const offer = ({ keyring, clock }: UserDeps, _id: string, { role, name }: Offer) => {
  const invited_until = clock.now() + INVITATION_MS
  return {
    role,
    sealed_name: name === null ? null : keyring.seal(name, userContext.name(_id)),
    invited_until,
    purge_at: new Date(invited_until),
  }
}

function newInvitation(deps: UserDeps, company_id: string, email: string, offered: Offer): UserDoc {
  const { keyring, clock, grants } = deps
  const now = clock.now()
  const _id = newId('usr', now)
  return grants.stamp('users', {
    _id,
    company_id,
    ...offer(deps, _id, offered),
    email: emailIndex(keyring, email),
    sealed_email: keyring.seal(email, userContext.email(_id)),
    created_at: now,
    last_sign_in_at: null,
    rev: 0,
  })
}

/** The same invitation with what is offered now: its address stays as it is. */
function renewed(deps: UserDeps, invitation: UserDoc, email: string, offered: Offer): UserDoc {
  const { grants } = deps
  // A new MAC would make good what an attacker has written.
  if (!grants.isGenuine('users', invitation)) throw notGenuine()
  if (!isSameMailbox(emailOf(deps, invitation) ?? '', email)) throw addressTaken()
  return grants.stamp('users', { ...invitation, ...offer(deps, invitation._id, offered) })
}

/** Whether a user is without a stamp, or stamped with a secret that is gone. One whose members do not fit its MAC is not
 *  among them. */
const isUnstamped = ({ grants }: UserDeps, user: UserDoc): boolean =>
  ['missing', 'unknown_key'].includes(grants.makerOf('users', user))

/** An operator may leave a company without an owner, and is the one who can invite the next. */
async function requireAnotherOwner({ store }: UserDeps, request: AdminRequest, user: UserDoc): Promise<void> {
  const { _id, company_id, role } = user
  if (role !== 'owner' || isInvitation(user) || principalOf(request).user_id === null) return
  const owners = await store
    .docs('users')
    .find({ company_id, role: 'owner' }, { sort: { _id: 1 }, limit: MAX_OWNERS_READ })
  if (owners.some(one => one._id !== _id && !isInvitation(one))) return
  throw httpException(409, 'A company keeps at least one owner. Make another user an owner first.')
}

/** False after a lost race. */
async function save({ store }: UserDeps, stored: UserDoc | undefined, user: UserDoc): Promise<boolean> {
  const users = store.docs('users')
  if (!stored) return (await users.insert([user]))[0] === 'inserted'
  const { _id, rev, role, sealed_name, invited_until, purge_at, mac } = user
  const $set = { role, sealed_name, invited_until, purge_at, mac }
  return changeOne(users, { _id, rev, update: { $set } })
}

const addressTaken = () => httpException(409, 'This address belongs to a user of this company already.')

const notGenuine = () =>
  httpException(
    409,
    'This user has no stamp of Countersign that is valid. An operator stamps it (POST /users/stamp), or removes it and invites the person again.',
  )
