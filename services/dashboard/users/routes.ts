// GET|POST /companies/{id}/users, PATCH|DELETE /users/{id}: who of a company may use the dashboard. Inviting stores a user that grants nothing
// until the person accepts (sign-in/invitations.ts), and tells nothing about what the person is elsewhere. A company does not lose its last
// owner through its own users: then none of them could invite another.
// GET /users/unstamped, POST /users/stamp: users without a MAC, of an earlier release. An operator looks at each and stamps it: a document that
// anybody with access to the store could write must not become a user by itself.
import { z } from 'zod'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { CONSOLE_COMPANY_ID } from '../../domain/tenancy/console.ts'
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
import type { AddRoutes } from '../admin-deps.ts'
import { emailAddress } from '../email-address.ts'
import { getOr404 } from '../request-input.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { auditFieldsOf } from '../user-audit-fields.ts'
import { userRole } from '../user-role.schemas.ts'
import type { InvitationLimit } from './invitation-limit.ts'
import type { UnstampedAnswer, UserAnswer } from './schemas.ts'

const inviteBody = z.strictObject({ email: emailAddress, role: userRole, name: text(100).nullable().default(null) })
type Offer = Omit<z.output<typeof inviteBody>, 'email'>
export const changeBody = z.strictObject({ role: userRole })
const MAX_STAMPED_AT_ONCE = 100
export const stampBody = z.strictObject({ ids: z.array(z.string().max(100)).min(1).max(MAX_STAMPED_AT_ONCE) })

/** More than a company has. */
const MAX_OWNERS_READ = 10_000

/** The name of the lease under which the users of a company change: neither an address nor the place of the last owner may be taken twice.
 *  Every company has its own, so that none can keep another from changing its users. */
const usersChange = (company_id: string): string => `users:${company_id}`

export interface UserRouteDeps {
  sessions: Pick<Sessions, 'endAllOf'>
  grants: Grants
  invitationLimit: InvitationLimit
}

export const createUserRoutes =
  ({ sessions, grants, invitationLimit }: UserRouteDeps): AddRoutes =>
  (router, { store, keyring, clock, readBody, readPage, withAudit, changeExclusively }) => {
    const [users, companies] = [store.docs('users'), store.docs('companies')]

    const emailOf = ({ _id, sealed_email }: UserDoc): string | null =>
      unsealOrNull(keyring, sealed_email, userContext.email(_id))

    /** Email and name are null when their data key is not configured now. */
    const userView = (user: UserDoc): UserAnswer => ({
      id: user._id,
      company_id: user.company_id,
      email: emailOf(user),
      name: user.sealed_name === null ? null : unsealOrNull(keyring, user.sealed_name, userContext.name(user._id)),
      role: user.role,
      invited_until: isoTimeOrNull(user.invited_until ?? null),
      created_at: isoTime(user.created_at),
      last_sign_in_at: isoTimeOrNull(user.last_sign_in_at),
    })

    const auditFields = (user: UserDoc) => auditFieldsOf(keyring, user)
    const actionOn = (user: UserDoc, verb: 'change' | 'delete'): string =>
      `${isInvitation(user) ? 'invitation' : 'user'}.${verb}`

    /** What an invitation offers, and until when. */
    const offer = (_id: string, { role, name }: Offer) => {
      const invited_until = clock.now() + INVITATION_MS
      return {
        role,
        sealed_name: name === null ? null : keyring.seal(name, userContext.name(_id)),
        invited_until,
        purge_at: new Date(invited_until),
      }
    }

    function newInvitation(company_id: string, email: string, offered: Offer): UserDoc {
      const now = clock.now()
      const _id = newId('usr', now)
      return grants.stamp('users', {
        _id,
        company_id,
        ...offer(_id, offered),
        email: emailIndex(keyring, email),
        sealed_email: keyring.seal(email, userContext.email(_id)),
        created_at: now,
        last_sign_in_at: null,
        rev: 0,
      })
    }

    /** The same invitation with what is offered now: its address stays as it is. */
    function renewed(invitation: UserDoc, email: string, offered: Offer): UserDoc {
      // A new MAC would make good what an attacker has written.
      if (!grants.isGenuine('users', invitation)) throw notGenuine()
      if (!isSameMailbox(emailOf(invitation) ?? '', email)) throw addressTaken()
      return grants.stamp('users', { ...invitation, ...offer(invitation._id, offered) })
    }

    /** Of an earlier release, or stamped with a secret that is gone. One whose members do not fit its MAC is not among them. */
    const isUnstamped = (user: UserDoc): boolean => ['missing', 'unknown_key'].includes(grants.makerOf('users', user))

    /** An operator may leave a company without an owner, and is the one who can invite the next. */
    async function requireAnotherOwner(request: AdminRequest, user: UserDoc): Promise<void> {
      const { _id, company_id, role } = user
      if (role !== 'owner' || isInvitation(user) || principalOf(request).user_id === null) return
      const owners = await users.find({ company_id, role: 'owner' }, { sort: { _id: 1 }, limit: MAX_OWNERS_READ })
      if (owners.some(one => one._id !== _id && !isInvitation(one))) return
      throw httpException(409, 'A company keeps at least one owner. Make another user an owner first.')
    }

    router.get('/companies/:id/users', async ctx => {
      const { _id: company_id } = await getOr404(ctx, companies, ctx.params.id, 'company')
      ctx.body = await readPage(ctx, { docs: users, filter: { company_id }, show: userView })
    })

    router.post('/companies/:id/users', async ctx => {
      const { _id: company_id } = await getOr404(ctx, companies, ctx.params.id, 'company')
      const { email, ...offered } = await readBody(ctx, inviteBody)
      if (company_id === CONSOLE_COMPANY_ID)
        throw httpException(409, 'The console has no users: they could read the codes with which others sign in.')
      // Operators bring in whole companies; a user could otherwise invite strangers without end.
      const counted = principalOf(ctx).user_id === null ? null : await invitationLimit.take(company_id, email)
      ctx.body = await changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          // Under every data key: the unique index knows an address under one of them.
          const [stored] = await findUsersByEmail(store, keyring, email, company_id)
          if (stored && !isInvitation(stored)) throw addressTaken()
          const user = stored ? renewed(stored, email, offered) : newInvitation(company_id, email, offered)
          return {
            action: 'invitation.create',
            target: user._id,
            company_id,
            before: stored ? auditFields(stored) : null,
            after: auditFields(user),
            perform: async () => {
              await renewLease()
              return (await save(stored, user)) ? userView(user) : null
            },
          }
        }),
      ).catch(async error => {
        await counted?.giveBack()
        throw error
      })
      ctx.status = 201
    })

    /** False after a lost race. */
    async function save(stored: UserDoc | undefined, user: UserDoc): Promise<boolean> {
      if (!stored) return (await users.insert([user]))[0] === 'inserted'
      const { _id, rev, role, sealed_name, invited_until, purge_at, mac } = user
      const $set = { role, sealed_name, invited_until, purge_at, mac }
      return (await users.change([{ _id, rev, update: { $set } }]))[0] === 'won'
    }

    router.get('/users/unstamped', async ctx => {
      const items: UserAnswer[] = []
      for await (const user of scanAll(users)) {
        if (isUnstamped(user)) items.push(userView(user))
        if (items.length === MAX_STAMPED_AT_ONCE) break
      }
      ctx.body = { items } satisfies UnstampedAnswer
    })

    router.post('/users/stamp', async ctx => {
      const { ids } = await readBody(ctx, stampBody)
      const items: UserAnswer[] = []
      for (const id of new Set(ids)) {
        const stamped = await withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, id, 'user')
          if (!isUnstamped(stored)) return { unchanged: null }
          const user = grants.stamp('users', stored)
          return {
            action: 'user.stamp',
            target: id,
            company_id: stored.company_id,
            before: null,
            after: auditFields(user),
            perform: async () => {
              const [outcome] = await users.change([{ _id: id, rev: stored.rev, update: { $set: { mac: user.mac } } }])
              return outcome === 'won' ? userView(user) : null
            },
          }
        })
        if (stamped) items.push(stamped)
      }
      ctx.body = { items } satisfies UnstampedAnswer
    })

    router.patch('/users/:id', async ctx => {
      const { company_id } = await getOr404(ctx, users, ctx.params.id, 'user')
      const { role } = await readBody(ctx, changeBody)
      ctx.body = await changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, ctx.params.id, 'user')
          if (stored.role === role) return { unchanged: userView(stored) }
          await requireAnotherOwner(ctx, stored)
          // A new MAC would make good what an attacker has written.
          if (!grants.isGenuine('users', stored)) throw notGenuine()
          const { _id, rev } = stored
          const user = grants.stamp('users', { ...stored, role })
          return {
            action: actionOn(stored, 'change'),
            target: _id,
            company_id,
            before: auditFields(stored),
            after: auditFields(user),
            perform: async () => {
              await renewLease()
              return (await users.change([{ _id, rev, update: { $set: { role, mac: user.mac } } }]))[0] === 'won'
                ? userView(user)
                : null
            },
          }
        }),
      )
    })

    router.delete('/users/:id', async ctx => {
      const { _id, company_id } = await getOr404(ctx, users, ctx.params.id, 'user')
      await changeExclusively(usersChange(company_id), renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, _id, 'user')
          await requireAnotherOwner(ctx, stored)
          return {
            action: actionOn(stored, 'delete'),
            target: _id,
            company_id,
            before: auditFields(stored),
            after: null,
            perform: async () => {
              await renewLease()
              return (await users.remove({ _id, rev: stored.rev }, 1)) === 1 ? stored : null
            },
          }
        }),
      )
      // After the user: a session without its user is refused, so a crash here leaves no way in.
      await sessions.endAllOf({ user_ids: [_id] })
      ctx.status = 204
    })
  }

const addressTaken = () => httpException(409, 'This address belongs to a user of this company already.')

const notGenuine = () =>
  httpException(
    409,
    'This user was not written by this release of Countersign. An operator stamps it (POST /users/stamp), or removes it and invites the person again.',
  )
