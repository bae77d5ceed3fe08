// Lets a caller in and out: begins, moves and ends sessions, and tells callers who they are. In: a request, and who has
// signed in. Out: a session in a cookie, and the caller's own data.
import type { Context } from 'koa'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import { isInvitation, type UserDoc, userContext } from '../../domain/users/documents.ts'
import type { People } from '../../domain/users/people.ts'
import { NO_COMPANY, operatorPrincipal, type Principal, principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { describeBrowser } from './browser.ts'
import type { Cookies } from './cookie.ts'
import type { MeAnswer } from './schemas.ts'
import {
  csrfTokenOf,
  type FormerSession,
  type Person,
  type SessionOwner,
  type Sessions,
  userPrincipal,
} from './sessions.ts'

export interface Entry {
  /** Begins a session. The session that the browser had before ends. `former`: which it continues. */
  begin(ctx: Context, person: Person, former?: FormerSession): Promise<MeAnswer>
  /** Ends the caller's session, and begins one for another user of the same person, which continues it. */
  move(ctx: Context, caller: Principal, user: UserDoc): Promise<MeAnswer>
  /** Ends a session of the caller of this request. */
  end(ctx: Context, sessionId: string): Promise<void>
  viewOf(caller: Principal): Promise<MeAnswer>
  /** All users of the person who calls; none for an operator. */
  usersOf(caller: Principal): Promise<UserDoc[]>
  /** Sessions of a person are the person's own in every company. */
  ownerOf(caller: Principal): Promise<SessionOwner>
}

export interface EntryDeps extends Pick<AdminDeps, 'store' | 'keyring' | 'clock' | 'withAudit'> {
  sessions: Sessions
  people: Pick<People, 'sameAs'>
  cookies: Pick<Cookies, 'session'>
}

export function createEntry({ store, keyring, clock, withAudit, sessions, people, cookies }: EntryDeps): Entry {
  const [users, companies] = [store.docs('users'), store.docs('companies')]

  const userOf = async ({ user_id }: Principal): Promise<UserDoc | undefined> =>
    user_id === null ? undefined : await getOne(users, user_id)

  const nameOf = ({ _id, sealed_name }: UserDoc): string | null =>
    sealed_name === null ? null : unsealOrNull(keyring, sealed_name, userContext.name(_id))

  async function viewOf(caller: Principal): Promise<MeAnswer> {
    const { role, company_id, user_id, operator, session } = caller
    const user = await userOf(caller)
    const all = user ? await people.sameAs(user) : []
    const named = await companies.get(all.map(one => one.company_id))
    const company_name = (one: UserDoc): string => named.get(one.company_id)?.name ?? one.company_id
    return {
      id: user_id,
      name: user ? nameOf(user) : operator,
      email: user ? unsealOrNull(keyring, user.sealed_email, userContext.email(user._id)) : null,
      role: role === 'invited' ? null : role,
      company_id: companyOrNull(company_id),
      memberships: all
        .filter(one => !isInvitation(one))
        .map(one => ({ company_id: one.company_id, company_name: company_name(one), role: one.role })),
      invitations: all
        .filter(isInvitation)
        .map(one => ({ id: one._id, company_name: company_name(one), role: one.role })),
      session_id: session?.id ?? null,
      csrf_token: session?.csrf_token ?? null,
    }
  }

  async function begin(ctx: Context, person: Person, former?: FormerSession): Promise<MeAnswer> {
    const { session, token } = sessions.create(person, describeBrowser(ctx.get('user-agent')), former)
    const { _id: id, browser, created_at, expires_at, stepped_up_at } = session
    const owner = 'user' in person ? userPrincipal(keyring, person.user) : operatorPrincipal(person.operator.name)
    const caller: Principal = { ...owner, session: { id, csrf_token: csrfTokenOf(token), expires_at, stepped_up_at } }
    ctx.state.principal = caller
    await endFormer(ctx)
    await withAudit(ctx, () => ({
      action: 'session.create',
      target: id,
      // A company does not learn from its log that a person whom it has invited has signed in.
      company_id: companyOrNull(owner.company_id),
      before: null,
      after: { browser },
      perform: async () => {
        await sessions.insert(session)
        return session
      },
    }))
    if ('user' in person && !isInvitation(person.user))
      await users.modify({ _id: person.user._id }, { $set: { last_sign_in_at: created_at } })
    ctx.append('Set-Cookie', cookies.session.give(token, expires_at - clock.now()))
    return viewOf(caller)
  }

  async function endFormer(ctx: Context): Promise<void> {
    const token = cookies.session.tokenIn(ctx)
    const former = token === null ? null : await sessions.find(token)
    if (former?.session) await end(ctx, former.session.id)
  }

  async function end(ctx: Context, id: string): Promise<void> {
    await withAudit(ctx, () => ({
      action: 'session.end',
      target: id,
      company_id: companyOrNull(principalOf(ctx).company_id),
      before: null,
      after: null,
      perform: () => sessions.end(id),
    }))
  }

  async function usersOf(caller: Principal): Promise<UserDoc[]> {
    const user = await userOf(caller)
    return user ? people.sameAs(user) : []
  }

  return {
    begin,
    async move(ctx, caller, user) {
      // In the name of the former user, so that its company has the end in its log.
      ctx.state.principal = caller
      if (caller.session) await end(ctx, caller.session.id)
      return begin(ctx, { user }, caller.session ?? undefined)
    },
    end,
    viewOf,
    usersOf,
    ownerOf: async caller =>
      caller.user_id === null
        ? { operator: caller.operator }
        : { user_ids: [...new Set([caller.user_id, ...(await usersOf(caller)).map(({ _id }) => _id)])] },
  }
}

/** As it is stored and answered. */
export const companyOrNull = (company_id: string | null): string | null =>
  company_id === NO_COMPANY ? null : company_id
