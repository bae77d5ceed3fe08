// POST /sign-in {token} | {ticket} | {email} | {email, code}, POST /sign-out, GET /session, GET /me, GET|DELETE /sessions, DELETE /sessions/{id}.
//
// Signing in tells a stranger nothing about users. The answer to {email} is the same for every address and is given before the address is
// looked up; every refusal of {email, code} in a browser that has asked for a code has the same words and takes the same time.
import type { Context } from 'koa'
import { z } from 'zod'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import { createAttemptThrottle } from '../../../infra/http/attempt-throttle.ts'
import { clientAddressOf, type FindCaller } from '../../../infra/http/caller-address.ts'
import type { IdentifyOperator } from '../../../infra/http/operators.ts'
import { httpException, rateLimited } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import type { SessionDoc, UserDoc } from '../../domain/users/documents.ts'
import { landingOf, type People } from '../../domain/users/people.ts'
import type { SignInTickets } from '../../domain/users/sign-in-tickets.ts'
import { enteredCode } from '../../domain/verifications/entered-code.ts'
import { type Principal, principalOf } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { emailAddress } from '../email-address.ts'
import { emptyBody, notFound } from '../request-input.ts'
import type { AfterAnswer } from './after-answer.ts'
import { type Browsers, KNOWN_BROWSER_MS, SIGN_IN_FLOW_MS } from './browsers.ts'
import type { SignInCodes } from './codes.ts'
import { type Cookies, newCookieToken } from './cookie.ts'
import { companyOrNull, createEntry } from './entry.ts'
import type { SameOrigin } from './same-origin.ts'
import type { CurrentSessionAnswer, SessionAnswer } from './schemas.ts'
import { type Sessions, sessionsOf } from './sessions.ts'

export interface SignInDeps {
  codes: SignInCodes
  browsers: Pick<Browsers, 'remember'>
  tickets: Pick<SignInTickets, 'use'>
  sessions: Sessions
  people: Pick<People, 'sameAs'>
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
  (router, admin) => {
    const { store, clock, log, readBody, readPage, withAudit } = admin
    const { codes, browsers, tickets, sessions, sameOrigin, identifyOperator, operators, findCaller, cookies } = deps
    const { begin, end, viewOf, ownerOf } = createEntry({ ...admin, sessions, people: deps.people, cookies })
    const throttle = createAttemptThrottle({ maxFailures: MAX_REQUESTS, windowMs: MINUTE_MS, clock })

    function countRequest(ctx: Context): void {
      const caller = findCaller(ctx)
      const waitMs = throttle.waitMs(caller)
      if (waitMs > 0)
        throw rateLimited({ scope: 'sign_in', detail: 'Too many sign-ins were tried from this address.', waitMs })
      throttle.countFailure(caller)
    }

    async function signInWithTicket(ctx: Context, ticket: string): Promise<void> {
      const operator = await tickets.use(ticket)
      if (operator) return begin(ctx, { operator })
      const caller_address = findCaller(ctx).nearestKnown
      log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.ticket_refused')
      throw httpException(401, TICKET_REFUSED)
    }

    async function signInWithCode(ctx: Context, email: string, code: string): Promise<void> {
      const askedAt = clock.now()
      const mode = await codes.mode()
      const flowToken = cookies.flow.tokenIn(ctx)
      if (flowToken === null) throw httpException(401, ASKED_ELSEWHERE)
      const users = await codes.check(email, code, { mode, trace: traceOf(ctx), flowToken })
      const [first, user] = [users[0], landingOf(users)]
      if (first && user) {
        await begin(ctx, { user })
        return knowBrowser(ctx, first)
      }
      const caller_address = findCaller(ctx).nearestKnown
      log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.code_refused')
      await new Promise<void>(resolve => void clock.after(askedAt + REFUSAL_MS - clock.now(), resolve))
      throw httpException(401, 'The code is wrong, has expired or was used before. Ask for a new one.')
    }

    /** From now on the browser has sign-in mails of its own for this person, who is known by the first of the users. */
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
        return begin(ctx, { operator })
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
      if (session) await end(ctx, session.id)
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
        filter: sessionsOf(await ownerOf(caller)),
        newestFirst: true,
        show: session => sessionView(session, caller),
      })
    })

    router.delete('/sessions', async ctx => {
      const caller = principalOf(ctx)
      await withAudit(ctx, () => ({
        action: 'session.end_all',
        target: caller.user_id ?? caller.name,
        company_id: companyOrNull(caller.company_id),
        before: null,
        after: null,
        perform: async () => sessions.endAllOf(await ownerOf(caller)),
      }))
      ctx.set('Set-Cookie', cookies.session.end())
      ctx.status = 204
    })

    router.delete('/sessions/:id', async ctx => {
      const caller = principalOf(ctx)
      const { id = '' } = ctx.params
      if ((await sessions.own(await ownerOf(caller), id)) === null) throw notFound('session')
      await end(ctx, id)
      if (caller.session?.id === id) ctx.set('Set-Cookie', cookies.session.end())
      ctx.status = 204
    })
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
