// POST /sign-in {token} | {ticket} | {email} | {email, code}, POST /sign-out, GET /session, GET /me, GET|DELETE /sessions, DELETE /sessions/{id}.
//
// Signing in tells a stranger nothing about users. The answer to {email} is the same for every address and is given before the address is
// looked up; every refusal of {email, code} in a browser that has asked for a code has the same words and takes the same time.
import type { Context } from 'koa'
import { z } from 'zod'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import { createAttemptThrottle } from '../../../infra/http/attempt-throttle.ts'
import { clientAddressOf, type FindCaller } from '../../../infra/http/caller-address.ts'
import type { IdentifyOperator } from '../../../infra/http/operators.ts'
import { httpException, rateLimited } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { type SessionDoc, type UserDoc, userContext } from '../../domain/users/documents.ts'
import type { SignInTickets } from '../../domain/users/sign-in-tickets.ts'
import { enteredCode } from '../../domain/verifications/entered-code.ts'
import { operatorPrincipal, type Principal, principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { emailAddress } from '../email-address.ts'
import { emptyBody, notFound } from '../request-input.ts'
import type { AfterAnswer } from './after-answer.ts'
import { describeBrowser } from './browser.ts'
import { type Browsers, KNOWN_BROWSER_MS, SIGN_IN_FLOW_MS } from './browsers.ts'
import type { SignInCodes } from './codes.ts'
import { type Cookies, newCookieToken } from './cookie.ts'
import type { SameOrigin } from './same-origin.ts'
import type { CurrentSessionAnswer, MeAnswer, SessionAnswer } from './schemas.ts'
import { csrfTokenOf, ownSessions, type Person, SESSION_MS, type Sessions, userPrincipal } from './sessions.ts'

export interface SignInDeps {
  codes: SignInCodes
  browsers: Pick<Browsers, 'remember'>
  tickets: Pick<SignInTickets, 'use'>
  sessions: Sessions
  sameOrigin: Pick<SameOrigin, 'checkOriginIfAny'>
  identifyOperator: IdentifyOperator
  operators: readonly AdminToken[]
  findCaller: FindCaller
  cookies: Cookies
  /** Work that begins after the answer, beside other such work. */
  runAfterAnswer: AfterAnswer['run']
}

const signInBody = z
  .strictObject({
    token: z.string().min(1).max(1_000).optional(),
    ticket: z.string().min(1).max(1_000).optional(),
    email: emailAddress.optional(),
    code: enteredCode().max(100).optional(),
  })
  .refine(
    ({ token, ticket, email, code }) =>
      [token, ticket, email].filter(given => given !== undefined).length === 1 &&
      (code === undefined || email !== undefined),
    { message: 'must be {token}, {ticket}, {email} or {email, code}' },
  )

/** Of requests with a ticket or an address, from one network. */
const MAX_REQUESTS = 60
/** Longer than a check takes, so that the time of a refusal does not tell whether there was a code to compare with. */
const REFUSAL_MS = 250

const CODE_SENT = {
  live: "If the address is a user's, a code was sent to it by email. It is good in this browser only.",
  test: "If the address is a user's, a code is in the sandbox inbox, because this deployment has no email provider.",
}

const ASKED_ELSEWHERE =
  'A code is good only in the browser that asked for it, and this one has not asked. Ask for a new one here.'

const TICKET_REFUSED =
  "The link is wrong, has expired or was used before. Sign in with the operator's token; in development, a restart prints a new link."

export const createSignInRoutes =
  (deps: SignInDeps): AddRoutes =>
  (router, { store, keyring, clock, log, readBody, readPage, withAudit }) => {
    const { codes, browsers, tickets, sessions, sameOrigin, identifyOperator, operators, findCaller, cookies } = deps
    const throttle = createAttemptThrottle({ maxFailures: MAX_REQUESTS, windowMs: MINUTE_MS, clock })

    function countRequest(ctx: Context): void {
      const caller = findCaller(ctx)
      const waitMs = throttle.waitMs(caller)
      if (waitMs > 0)
        throw rateLimited({ scope: 'sign_in', detail: 'Too many sign-ins were tried from this address.', waitMs })
      throttle.countFailure(caller)
    }

    async function viewOf({ role, company_id, user_id, operator, session }: Principal): Promise<MeAnswer> {
      const user = user_id === null ? undefined : (await store.docs('users').get([user_id])).get(user_id)
      return {
        id: user_id,
        name: user ? nameOf(user) : operator,
        email: user ? unsealOrNull(keyring, user.sealed_email, userContext.email(user._id)) : null,
        role,
        company_id,
        session_id: session?.id ?? null,
        csrf_token: session?.csrf_token ?? null,
      }
    }

    const nameOf = ({ _id, sealed_name }: UserDoc): string | null =>
      sealed_name === null ? null : unsealOrNull(keyring, sealed_name, userContext.name(_id))

    /** Begins a session. The session that the browser had before ends. */
    async function begin(ctx: Context, person: Person, owner: Omit<Principal, 'session'>): Promise<void> {
      const { session, token } = sessions.create(person, describeBrowser(ctx.get('user-agent')))
      const caller: Principal = { ...owner, session: { id: session._id, csrf_token: csrfTokenOf(token) } }
      ctx.state.principal = caller
      await endFormer(ctx)
      await withAudit(ctx, () => ({
        action: 'session.create',
        target: session._id,
        company_id: owner.company_id,
        before: null,
        after: { browser: session.browser },
        perform: async () => {
          await sessions.insert(session)
          return session
        },
      }))
      if ('user' in person)
        await store.docs('users').modify({ _id: person.user._id }, { $set: { last_sign_in_at: session.created_at } })
      ctx.append('Set-Cookie', cookies.session.give(token, SESSION_MS))
      ctx.body = await viewOf(caller)
    }

    async function endFormer(ctx: Context): Promise<void> {
      const token = cookies.session.tokenIn(ctx)
      const former = token === null ? null : await sessions.find(token)
      if (former?.session) await endSession(ctx, former.session.id)
    }

    async function signInWithTicket(ctx: Context, ticket: string): Promise<void> {
      const operator = await tickets.use(ticket)
      if (operator) return begin(ctx, { operator }, operatorPrincipal(operator.name))
      const caller_address = findCaller(ctx).nearestKnown
      log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.ticket_refused')
      throw httpException(401, TICKET_REFUSED)
    }

    async function signInWithCode(ctx: Context, email: string, code: string): Promise<void> {
      const askedAt = clock.now()
      const mode = await codes.mode()
      const flowToken = cookies.flow.tokenIn(ctx)
      if (flowToken === null) throw httpException(401, ASKED_ELSEWHERE)
      const user = await codes.check(email, code, { mode, trace: traceOf(ctx), flowToken })
      if (user) {
        await begin(ctx, { user }, userPrincipal(keyring, user))
        return knowBrowser(ctx, user)
      }
      const caller_address = findCaller(ctx).nearestKnown
      log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.code_refused')
      await new Promise<void>(resolve => void clock.after(askedAt + REFUSAL_MS - clock.now(), resolve))
      throw httpException(401, 'The code is wrong, has expired or was used before. Ask for a new one.')
    }

    /** From now on the browser has sign-in mails of its own for this user. */
    async function knowBrowser(ctx: Context, { _id }: UserDoc): Promise<void> {
      const token = cookies.device.tokenIn(ctx) ?? newCookieToken()
      await browsers.remember(token, _id)
      ctx.append('Set-Cookie', [cookies.device.give(token, KNOWN_BROWSER_MS), cookies.flow.end()])
    }

    router.post('/sign-in', async ctx => {
      sameOrigin.checkOriginIfAny(ctx)
      const { token, ticket, email = '', code } = await readBody(ctx, signInBody)
      if (token !== undefined) {
        const name = identifyOperator(ctx, { token })
        const operator = operators.find(one => one.name === name)
        if (!operator) throw new Error(`the operator ${name} has no token`)
        return begin(ctx, { operator }, operatorPrincipal(name))
      }
      countRequest(ctx)
      if (ticket !== undefined) return signInWithTicket(ctx, ticket)
      if (code !== undefined) return signInWithCode(ctx, email, code)
      const mode = await codes.mode()
      const clientAddress = clientAddressOf(findCaller(ctx))
      const trace = traceOf(ctx)
      const flowToken = cookies.flow.tokenIn(ctx) ?? newCookieToken()
      const deviceToken = cookies.device.tokenIn(ctx)
      deps.runAfterAnswer(ctx.res, () => codes.send(email, { mode, clientAddress, trace, flowToken, deviceToken }))
      ctx.set('Set-Cookie', cookies.flow.give(flowToken, SIGN_IN_FLOW_MS))
      ctx.body = { next: 'code', sent_by: mode === 'live' ? 'email' : 'sandbox', detail: CODE_SENT[mode] }
    })

    router.post('/sign-out', async ctx => {
      await readBody(ctx, emptyBody)
      const { session } = principalOf(ctx)
      if (session) await endSession(ctx, session.id)
      ctx.set('Set-Cookie', cookies.session.end())
      ctx.status = 204
    })

    // A page asks this first: without a session GET /me refuses, and browsers log a refusal as an error.
    router.get('/session', async ctx => {
      const token = cookies.session.tokenIn(ctx)
      const caller = token === null ? null : await sessions.find(token)
      ctx.body = { me: caller === null ? null : await viewOf(caller) } satisfies CurrentSessionAnswer
    })

    router.get('/me', async ctx => {
      ctx.body = await viewOf(principalOf(ctx))
    })

    router.get('/sessions', async ctx => {
      const caller = principalOf(ctx)
      ctx.body = await readPage(ctx, {
        docs: store.docs('sessions'),
        filter: ownSessions(caller),
        newestFirst: true,
        show: session => sessionView(session, caller),
      })
    })

    router.delete('/sessions', async ctx => {
      const caller = principalOf(ctx)
      await withAudit(ctx, () => ({
        action: 'session.end_all',
        target: caller.user_id ?? caller.name,
        company_id: caller.company_id,
        before: null,
        after: null,
        perform: () => sessions.endAllOf(caller),
      }))
      ctx.set('Set-Cookie', cookies.session.end())
      ctx.status = 204
    })

    router.delete('/sessions/:id', async ctx => {
      const caller = principalOf(ctx)
      const { id = '' } = ctx.params
      if ((await sessions.own(caller, id)) === null) throw notFound('session')
      await endSession(ctx, id)
      if (caller.session?.id === id) ctx.set('Set-Cookie', cookies.session.end())
      ctx.status = 204
    })

    const endSession = (ctx: Context, id: string): Promise<boolean> =>
      withAudit(ctx, () => ({
        action: 'session.end',
        target: id,
        company_id: principalOf(ctx).company_id,
        before: null,
        after: null,
        perform: () => sessions.end(id),
      }))
  }

const sessionView = (
  { _id, browser, created_at, seen_at, expires_at }: SessionDoc,
  caller: Principal,
): SessionAnswer => ({
  id: _id,
  at: isoTime(created_at),
  last_seen_at: isoTime(seen_at),
  expires_at: isoTime(expires_at),
  browser,
  current: _id === caller.session?.id,
})
