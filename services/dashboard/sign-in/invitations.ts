// A person who is signed in answers invitations and chooses a company. An invitation grants nothing before it is accepted: then the invited
// user becomes a member, and the session goes there.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { changeOne, getOne } from '../../../infra/store/one-doc.ts'
import { documentRefusal } from '../../domain/openapi/refusals.ts'
import { isClosed } from '../../domain/tenancy/documents.ts'
import { isInvitation, type UserDoc } from '../../domain/users/documents.ts'
import type { Grants } from '../../domain/users/grants.ts'
import { landingOf } from '../../domain/users/people.ts'
import { principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok } from '../answers.ts'
import { operationWith } from '../operation.ts'
import { notFound } from '../request-input.ts'
import { auditFieldsOf } from '../user-audit-fields.ts'
import type { Cookies } from './cookie.ts'
import type { Entry } from './entry.ts'
import { currentSession, me, meExample } from './schemas.ts'
import { type Sessions, userPrincipal } from './sessions.ts'

export interface InvitationDeps extends AdminDeps {
  entry: Entry
  sessions: Pick<Sessions, 'endAllOf'>
  cookies: Pick<Cookies, 'session'>
  grants: Pick<Grants, 'stamp'>
}

const operation = operationWith<InvitationDeps>()

export const invitationOperations = [
  operation({
    id: 'chooseCompany',
    request: 'POST /me/company',
    role: 'viewer',
    summary: 'Choose a company',
    description:
      'One of `memberships`. The session ends, and one in that company begins, with a new cookie and a new CSRF token. It ends when the former would have ended.',
    body: {
      schema: z
        .strictObject({ company_id: z.string().min(1).max(100) })
        .meta({ id: 'ChooseCompanyRequest', description: 'The company to enter.' }),
      example: { company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c' },
    },
    answers: [ok(me, 'The caller, in the company.', meExample)],
    refusals: [documentRefusal('The caller is not a user of this company.', httpException(404))],
    handle: async ({ ctx, body: { company_id } }, deps) => {
      const { move, usersOf, viewOf } = deps.entry
      const caller = principalOf(ctx)
      const chosen = (await usersOf(caller)).find(user => user.company_id === company_id && !isInvitation(user))
      if (chosen === undefined) throw notFound('company')
      return chosen._id === caller.user_id ? viewOf(caller) : move(ctx, caller, chosen)
    },
  }),
  operation({
    id: 'acceptInvitation',
    request: 'POST /invitations/{id}/accept',
    role: 'invited',
    summary: 'Accept an invitation',
    description:
      'One of `invitations`. The caller becomes a user of the company, and the session goes there as if it was chosen.',
    answers: [ok(me, 'The caller, in the company.', meExample)],
    refusals: [conflict('The company is closed.')],
    handle: async ({ ctx, params }, deps) => {
      const { store, keyring, grants, withAudit } = deps
      const { move, usersOf } = deps.entry
      const caller = principalOf(ctx)
      const invited = findInvitation(await usersOf(caller), params.id)
      // The company's log names the person as the user whom it has invited, not as a user of another company.
      ctx.state.principal = { ...userPrincipal(keyring, invited), session: caller.session }
      const member = await withAudit(ctx, async () => {
        const { purge_at, invited_until, ...stored } = findInvitation(await usersOf(caller), params.id)
        const { _id, rev, company_id } = stored
        if (isClosed(await getOne(store.docs('companies'), company_id)))
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
            return (await changeOne(store.docs('users'), { _id, rev, update })) ? user : null
          },
        }
      })
      return move(ctx, caller, member)
    },
  }),
  operation({
    id: 'declineInvitation',
    request: 'POST /invitations/{id}/decline',
    role: 'invited',
    summary: 'Decline an invitation',
    description: 'It is removed. A person without a membership or another invitation is signed out: then `me` is null.',
    answers: [ok(currentSession, 'The caller, or null.', { me: meExample })],
    handle: async ({ ctx, params }, deps) => {
      const { store, keyring, sessions, cookies, withAudit } = deps
      const { move, viewOf, usersOf, end } = deps.entry
      const caller = principalOf(ctx)
      const all = await usersOf(caller)
      const invited = findInvitation(all, params.id)
      ctx.state.principal = { ...userPrincipal(keyring, invited), session: caller.session }
      await withAudit(ctx, async () => {
        const stored = findInvitation(await usersOf(caller), params.id)
        const { _id, rev, company_id } = stored
        return {
          action: 'invitation.decline',
          target: _id,
          company_id,
          before: auditFieldsOf(keyring, stored),
          after: null,
          perform: async () => ((await store.docs('users').remove({ _id, rev }, 1)) === 1 ? stored : null),
        }
      })
      ctx.state.principal = caller
      const leave = async () => {
        if (caller.user_id !== invited._id) return viewOf(caller)
        const next = landingOf(all.filter(({ _id }) => _id !== invited._id))
        if (next) return move(ctx, caller, next)
        // Nothing is left that the person could use here.
        if (caller.session) await end(ctx, caller.session.id)
        ctx.set('Set-Cookie', cookies.session.end())
        return null
      }
      const me = await leave()
      // The person may be signed in to the invitation in other browsers.
      await sessions.endAllOf({ user_ids: [invited._id] })
      return { me }
    },
  }),
]

/** Only the person's own: an invitation of another is not found. */
function findInvitation(all: readonly UserDoc[], id: string): UserDoc {
  const found = all.find(user => user._id === id && isInvitation(user))
  if (found === undefined) throw notFound('invitation')
  return found
}
