// GET|POST /companies/{id}/users, PATCH|DELETE /users/{id}: who of a company may use the dashboard. An address is a user of one company
// only. A company does not lose its last owner through its own users: then none of them could invite another.
// GET /users/unstamped, POST /users/stamp: users without a MAC, of an earlier release. An operator looks at each and stamps it: a document that
// anybody with access to the store could write must not become a user by itself.
import { z } from 'zod'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { newId } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import { maskEmail } from '../../../machines/masking.ts'
import { text } from '../../domain/tenancy/value-schemas.ts'
import { CONSOLE_COMPANY_ID } from '../../domain/users/console.ts'
import { emailIndex, findUserByEmail, type UserDoc, type UserRole, userContext } from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'
import { type AdminRequest, principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { emailAddress } from '../email-address.ts'
import { getOr404 } from '../request-input.ts'
import type { Sessions } from '../sign-in/sessions.ts'
import { type UnstampedAnswer, type UserAnswer, userRole } from './schemas.ts'

const inviteBody = z.strictObject({ email: emailAddress, role: userRole, name: text(100).nullable().default(null) })
export const changeBody = z.strictObject({ role: userRole })
const MAX_STAMPED_AT_ONCE = 1_000
export const stampBody = z.strictObject({ ids: z.array(z.string().max(100)).min(1).max(MAX_STAMPED_AT_ONCE) })

/** The name of the lease under which users change: neither an address nor the place of the last owner may be taken twice. */
const USERS_CHANGE = 'users'

export const createUserRoutes =
  ({ sessions, grants }: { sessions: Pick<Sessions, 'endAllOf'>; grants: Grants }): AddRoutes =>
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
      created_at: isoTime(user.created_at),
      last_sign_in_at: isoTimeOrNull(user.last_sign_in_at),
    })

    /** The audit log is kept for good, so the address is masked and the name left out. */
    const auditFields = (user: UserDoc) => {
      const email = emailOf(user)
      return { email: email === null ? null : maskEmail(email), role: user.role }
    }

    function newUser(company_id: string, email: string, given: { role: UserRole; name: string | null }): UserDoc {
      const now = clock.now()
      const _id = newId('usr', now)
      return grants.stamp('users', {
        _id,
        company_id,
        role: given.role,
        email: emailIndex(keyring, email),
        sealed_email: keyring.seal(email, userContext.email(_id)),
        sealed_name: given.name === null ? null : keyring.seal(given.name, userContext.name(_id)),
        created_at: now,
        last_sign_in_at: null,
        rev: 0,
      })
    }

    /** Of an earlier release, or stamped with a secret that is gone. One whose members do not fit its MAC is not among them. */
    const isUnstamped = (user: UserDoc): boolean => ['missing', 'unknown_key'].includes(grants.makerOf('users', user))

    /** An operator may leave a company without an owner, and is the one who can invite the next. */
    async function requireAnotherOwner(request: AdminRequest, { company_id, role }: UserDoc): Promise<void> {
      if (role !== 'owner' || principalOf(request).user_id === null) return
      if ((await users.count({ company_id, role: 'owner' })) > 1) return
      throw httpException(409, 'A company keeps at least one owner. Make another user an owner first.')
    }

    router.get('/companies/:id/users', async ctx => {
      const { _id: company_id } = await getOr404(ctx, companies, ctx.params.id, 'company')
      ctx.body = await readPage(ctx, { docs: users, filter: { company_id }, show: userView })
    })

    router.post('/companies/:id/users', async ctx => {
      const { _id: company_id } = await getOr404(ctx, companies, ctx.params.id, 'company')
      const { email, ...given } = await readBody(ctx, inviteBody)
      if (company_id === CONSOLE_COMPANY_ID)
        throw httpException(409, 'The console has no users: they could read the codes with which others sign in.')
      ctx.body = await changeExclusively(USERS_CHANGE, renewLease =>
        withAudit(ctx, async () => {
          // Under every data key: the unique index knows an address under one of them.
          if ((await findUserByEmail(store, keyring, email)) !== null) throw addressTaken()
          const user = newUser(company_id, email, given)
          return {
            action: 'user.create',
            target: user._id,
            company_id,
            before: null,
            after: auditFields(user),
            perform: async () => {
              await renewLease()
              return (await users.insert([user]))[0] === 'inserted' ? userView(user) : null
            },
          }
        }),
      )
      ctx.status = 201
    })

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
      await getOr404(ctx, users, ctx.params.id, 'user')
      const { role } = await readBody(ctx, changeBody)
      ctx.body = await changeExclusively(USERS_CHANGE, renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, ctx.params.id, 'user')
          if (stored.role === role) return { unchanged: userView(stored) }
          await requireAnotherOwner(ctx, stored)
          // A new MAC would make good what an attacker has written.
          if (!grants.isGenuine('users', stored)) throw notGenuine()
          const { _id, rev, company_id } = stored
          const user = grants.stamp('users', { ...stored, role })
          return {
            action: 'user.change',
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
      const { _id } = await getOr404(ctx, users, ctx.params.id, 'user')
      await changeExclusively(USERS_CHANGE, renewLease =>
        withAudit(ctx, async () => {
          const stored = await getOr404(ctx, users, _id, 'user')
          await requireAnotherOwner(ctx, stored)
          return {
            action: 'user.delete',
            target: _id,
            company_id: stored.company_id,
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
      await sessions.endAllOf({ user_id: _id, operator: null })
      ctx.status = 204
    })
  }

const addressTaken = () =>
  httpException(409, 'This address belongs to a user already. An address can be a user of one company only.')

const notGenuine = () =>
  httpException(
    409,
    'This user was not written by this release of Countersign. An operator stamps it (POST /users/stamp), or removes it and invites the person again.',
  )
