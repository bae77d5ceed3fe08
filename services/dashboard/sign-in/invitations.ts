// POST /invitations/{id}/accept|decline, POST /me/company {company_id}: a person who is signed in answers invitations and chooses a company. An
// invitation grants nothing before it is accepted: then the invited user becomes a member, and the session goes there.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { isClosed } from '../../domain/tenancy/documents.ts'
import { isInvitation, type UserDoc } from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'
import { landingOf } from '../../domain/users/people.ts'
import { type AdminRouteRequest, principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { emptyBody, notFound } from '../request-input.ts'
import { auditFieldsOf } from '../user-audit-fields.ts'
import type { Cookies } from './cookie.ts'
import { createEntry, type EntryDeps } from './entry.ts'
import type { CurrentSessionAnswer } from './schemas.ts'
import { userPrincipal } from './sessions.ts'

export interface InvitationDeps extends Pick<EntryDeps, 'sessions' | 'people'> {
  grants: Pick<Grants, 'stamp'>
  cookies: Cookies
}

export const chooseCompanyBody = z.strictObject({ company_id: z.string().min(1).max(100) })

export const createInvitationRoutes =
  ({ sessions, people, grants, cookies }: InvitationDeps): AddRoutes =>
  (router, admin) => {
    const { store, keyring, readBody, withAudit } = admin
    const [users, companies] = [store.docs('users'), store.docs('companies')]
    const { move, viewOf, usersOf, end } = createEntry({ ...admin, sessions, people, cookies })

    /** Only the person's own: an invitation of another is not found. */
    async function findInvitation(ctx: AdminRouteRequest, all: Promise<UserDoc[]>): Promise<UserDoc> {
      const found = (await all).find(user => user._id === ctx.params.id && isInvitation(user))
      if (found === undefined) throw notFound('invitation')
      return found
    }

    router.post('/invitations/:id/accept', async ctx => {
      await readBody(ctx, emptyBody)
      const caller = principalOf(ctx)
      const invited = await findInvitation(ctx, usersOf(caller))
      // The company's log names the person as the user whom it has invited, not as a user of another company.
      ctx.state.principal = { ...userPrincipal(keyring, invited), session: caller.session }
      const member = await withAudit(ctx, async () => {
        const { purge_at, invited_until, ...stored } = await findInvitation(ctx, usersOf(caller))
        const { _id, rev, company_id } = stored
        if (isClosed((await companies.get([company_id])).get(company_id)))
          throw httpException(409, 'The company is closed. Nobody joins it until it is open again.')
        const user = grants.stamp('users', stored)
        return {
          action: 'invitation.accept',
          target: _id,
          company_id,
          before: null,
          after: auditFieldsOf(keyring, user),
          perform: async () => {
            const update = { $set: { mac: user.mac }, $unset: { invited_until: true, purge_at: true } } as const
            return (await users.change([{ _id, rev, update }]))[0] === 'won' ? user : null
          },
        }
      })
      await move(ctx, caller, member)
    })

    router.post('/invitations/:id/decline', async ctx => {
      await readBody(ctx, emptyBody)
      const caller = principalOf(ctx)
      const all = await usersOf(caller)
      const invited = await findInvitation(ctx, Promise.resolve(all))
      ctx.state.principal = { ...userPrincipal(keyring, invited), session: caller.session }
      await withAudit(ctx, async () => {
        const stored = await findInvitation(ctx, usersOf(caller))
        const { _id, rev, company_id } = stored
        return {
          action: 'invitation.decline',
          target: _id,
          company_id,
          before: auditFieldsOf(keyring, stored),
          after: null,
          perform: async () => ((await users.remove({ _id, rev }, 1)) === 1 ? stored : null),
        }
      })
      ctx.state.principal = caller
      const next = landingOf(all.filter(({ _id }) => _id !== invited._id))
      if (caller.user_id !== invited._id) ctx.body = { me: await viewOf(caller) } satisfies CurrentSessionAnswer
      else if (next) {
        await move(ctx, caller, next)
        ctx.body = { me: await viewOf(principalOf(ctx)) } satisfies CurrentSessionAnswer
      } else {
        // Nothing is left that the person could use here.
        if (caller.session) await end(ctx, caller.session.id)
        ctx.set('Set-Cookie', cookies.session.end())
        ctx.body = { me: null } satisfies CurrentSessionAnswer
      }
      // The person may be signed in to the invitation in other browsers.
      await sessions.endAllOf({ user_ids: [invited._id] })
    })

    router.post('/me/company', async ctx => {
      const { company_id } = await readBody(ctx, chooseCompanyBody)
      const caller = principalOf(ctx)
      const chosen = (await usersOf(caller)).find(user => user.company_id === company_id && !isInvitation(user))
      if (chosen === undefined) throw notFound('company')
      if (chosen._id === caller.user_id) ctx.body = await viewOf(caller)
      else await move(ctx, caller, chosen)
    })
  }
