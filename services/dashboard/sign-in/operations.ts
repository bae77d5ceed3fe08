// Signing in and out, and the sessions of the caller.
//
// Signing in tells a stranger nothing about users. The answer to {email} is the same for every address and is given before the address is
// looked up; every refusal of {email, code} in a browser that has asked for a code has the same words and takes the same time.
import type { Context } from 'koa'
import { z } from 'zod'
import type { AdminToken } from '../../../infra/config/secrets.ts'
import { type AttemptThrottle, createAttemptThrottle } from '../../../infra/http/attempt-throttle.ts'
import { type Caller, clientAddressOf, type FindCaller } from '../../../infra/http/caller-address.ts'
import type { IdentifyOperator } from '../../../infra/http/operators.ts'
import { httpException, rateLimited } from '../../../infra/http/problem.ts'
import { traceOf } from '../../../infra/http/request-trace.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { sleep } from '../../../infra/timeout.ts'
import { documentRefusal } from '../../domain/openapi/refusals.ts'
import type { SessionDoc, UserDoc } from '../../domain/users/documents.ts'
import { landingOf, type People } from '../../domain/users/people.ts'
import type { SignInTickets } from '../../domain/users/sign-in-tickets.ts'
import { enteredCode } from '../../domain/verifications/entered-code.ts'
import { type Principal, principalOf } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, noContent, ok, page } from '../answers.ts'
import { emailAddress } from '../email-address.ts'
import { operationWith } from '../operation.ts'
import { pageQuery } from '../pages.ts'
import { notFound } from '../request-input.ts'
import type { AfterAnswer } from './after-answer.ts'
import { describeBrowser } from './browser.ts'
import { type Browsers, KNOWN_BROWSER_MS, SIGN_IN_FLOW_MS } from './browsers.ts'
import { SENT_BY, type SignInCodes } from './codes.ts'
import { type Cookies, newCookieToken } from './cookie.ts'
import { companyOrNull, type Entry } from './entry.ts'
import type { NewBrowserMail } from './new-browser-mail.ts'
import { NO_PASSKEYS, type Passkeys } from './passkeys/passkeys.ts'
import { type Assertion, assertion, requestOptions } from './passkeys/schemas.ts'
import type { SameOrigin } from './same-origin.ts'
import {
  browserSession,
  type MeAnswer,
  me,
  meExample,
  type SessionAnswer,
  sessionPage,
  signInResult,
} from './schemas.ts'
import { endsAt, type Sessions, sessionsOf } from './sessions.ts'

export interface SignInDeps extends AdminDeps {
  entry: Entry
  sessions: Sessions
  people: Pick<People, 'sameAs'>
  codes: SignInCodes
  browsers: Pick<Browsers, 'known' | 'remember'>
  newBrowserMail: NewBrowserMail
  passkeys: Passkeys
  tickets: Pick<SignInTickets, 'use'>
  sameOrigin: Pick<SameOrigin, 'checkOriginIfAny'>
  identifyOperator: IdentifyOperator
  operators: readonly AdminToken[]
  findCaller: FindCaller
  cookies: Cookies
  /** Work that begins after the answer, beside other such work. */
  runAfterAnswer: AfterAnswer['run']
}

const operation = operationWith<SignInDeps>()

const signInBody = z
  .strictObject({
    token: z.string().min(1).max(1_000).optional().meta({ description: "An operator's token." }),
    ticket: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'Of the link that a start in development prints.' }),
    email: emailAddress.optional().meta({ description: 'The address of a user.' }),
    passkey: assertion.optional().meta({ description: 'What the browser answered to `POST /sign-in/passkey`.' }),
    code: enteredCode().max(100).optional().meta({ description: 'The code that came to the address.' }),
  })
  .refine(
    ({ token, ticket, email, passkey, code }) =>
      [token, ticket, email, passkey].filter(given => given !== undefined).length === 1 &&
      (code === undefined || email !== undefined),
    { message: 'must be {token}, {ticket}, {passkey}, {email} or {email, code}' },
  )
  .meta({
    id: 'SignInRequest',
    description: '`token`; or `ticket`; or `passkey`; or `email`, and then `email` with `code`.',
  })

/** How many requests with a ticket or an address one network may make. */
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

const sessionExample: SessionAnswer = {
  id: 'ses_01k2m8x4e9s7v3hqz5tnw6yb0c',
  at: '2030-01-01T12:00:00.000Z',
  last_seen_at: '2030-01-01T12:30:00.000Z',
  expires_at: '2030-01-02T00:00:00.000Z',
  browser: 'Firefox on Linux',
  current: true,
}

export const signInOperations = [
  operation({
    id: 'signIn',
    request: 'POST /sign-in',
    role: 'anyone',
    summary: 'Sign in',
    description:
      "With an operator's token or a ticket, which is good once, for an hour; with a passkey; or with an address and the code that came to it: first `email` alone, then `email` and `code` from the same browser, with the cookie that it got. The session is in a cookie.",
    body: { schema: signInBody, example: { email: 'ada@example.com', code: '12345678' } },
    answers: [ok(signInResult, 'Signed in, or the next step.', meExample)],
    refusals: [
      documentRefusal(
        'The token, the ticket, the passkey or the code is wrong, has expired or was used before; or another browser asked for the code.',
        httpException(401),
      ),
      documentRefusal("The Origin is another page's.", httpException(403)),
      conflict('This deployment cannot send codes for signing in.'),
    ],
    keep: ({ clock }) => createAttemptThrottle({ maxFailures: MAX_REQUESTS, windowMs: MINUTE_MS, clock }),
    handle: async ({ ctx, body: { token, ticket, passkey, email = '', code } }, deps, throttle) => {
      const { codes, sameOrigin, identifyOperator, operators, findCaller, cookies, runAfterAnswer } = deps
      sameOrigin.checkOriginIfAny(ctx)
      if (token !== undefined) {
        const name = identifyOperator(ctx, { token })
        const operator = operators.find(one => one.name === name)
        if (!operator) throw new Error(`the operator ${name} has no token`)
        return deps.entry.begin(ctx, { operator })
      }
      countRequest(throttle, findCaller(ctx))
      if (ticket !== undefined) return signInWithTicket(deps, ctx, ticket)
      if (passkey !== undefined) return signInWithPasskey(deps, ctx, passkey)
      if (code !== undefined) return signInWithCode(deps, ctx, email, code)
      const mode = await codes.mode()
      const clientAddress = clientAddressOf(findCaller(ctx))
      const trace = traceOf(ctx)
      const flowToken = cookies.flow.tokenIn(ctx) ?? newCookieToken()
      const deviceToken = cookies.device.tokenIn(ctx)
      runAfterAnswer(ctx.res, () => codes.send(email, { mode, clientAddress, trace, flowToken, deviceToken }))
      ctx.set('Set-Cookie', cookies.flow.give(flowToken, SIGN_IN_FLOW_MS))
      return { next: 'code' as const, sent_by: SENT_BY[mode], detail: CODE_SENT[mode] }
    },
  }),
  operation({
    id: 'startSignInWithPasskey',
    request: 'POST /sign-in/passkey',
    role: 'anyone',
    summary: 'Begin a sign-in with a passkey',
    description:
      'For `navigator.credentials.get`, within five minutes, in this browser. It asks for any passkey of this host.',
    answers: [
      ok(requestOptions, 'What the browser is asked.', {
        challenge: 'MTg5MzQ1NjAwMDAwMC4',
        timeout: 300_000,
        rpId: 'otp.example.com',
        allowCredentials: [],
        userVerification: 'required',
      }),
    ],
    refusals: [
      documentRefusal("The Origin is another page's.", httpException(403)),
      conflict('Passkeys are not offered here.'),
    ],
    handle: async ({ ctx }, { cookies, passkeys, sameOrigin }) => {
      sameOrigin.checkOriginIfAny(ctx)
      if (!passkeys.available) throw httpException(409, NO_PASSKEYS)
      const browser = cookies.flow.tokenIn(ctx) ?? newCookieToken()
      ctx.set('Set-Cookie', cookies.flow.give(browser, SIGN_IN_FLOW_MS))
      return passkeys.requestOptions({ purpose: 'sign_in', browser }, [])
    },
  }),
  operation({
    id: 'getCurrentSession',
    // A page asks this first: without a session GET /me refuses, and browsers log a refusal as an error.
    request: 'GET /session',
    role: 'anyone',
    summary: 'Look up the session of the browser',
    description: 'By the session cookie alone. Without a valid one `me` is null, where `GET /me` is 401.',
    answers: [ok(browserSession, 'The caller, or null.', { me: meExample, passkeys: true })],
    handle: async ({ ctx }, deps) => {
      const token = deps.cookies.session.tokenIn(ctx)
      const caller = token === null ? null : await deps.sessions.find(token)
      const me = caller === null ? null : await deps.entry.viewOf(caller)
      return { me, passkeys: deps.passkeys.available }
    },
  }),
  operation({
    id: 'signOut',
    request: 'POST /sign-out',
    role: 'invited',
    summary: 'Sign out',
    description: 'Ends the session of this call.',
    answers: [noContent('Signed out.')],
    handle: async ({ ctx }, deps) => {
      const { session } = principalOf(ctx)
      if (session) await deps.entry.end(ctx, session.id)
      ctx.set('Set-Cookie', deps.cookies.session.end())
    },
  }),
  operation({
    id: 'getMe',
    request: 'GET /me',
    role: 'invited',
    summary: 'Look the caller up',
    description:
      'Who is calling, in which company and with which role, what else the person may choose or accept, and the CSRF token of the session.',
    answers: [ok(me, 'The caller.', meExample)],
    handle: ({ ctx }, { entry }) => entry.viewOf(principalOf(ctx)),
  }),
  operation({
    id: 'listSessions',
    request: 'GET /sessions',
    role: 'invited',
    summary: "List the caller's sessions",
    description: 'Newest first.',
    query: pageQuery,
    answers: [page(sessionPage, 'A page of sessions.', sessionExample)],
    handle: async ({ ctx, query }, deps) => {
      const caller = principalOf(ctx)
      const listing = {
        docs: deps.store.docs('sessions'),
        filter: sessionsOf(await deps.entry.ownerOf(caller)),
        newestFirst: true,
        show: (session: SessionDoc) => sessionView(session, caller),
      }
      return deps.readPage(ctx, listing, query)
    },
  }),
  operation({
    id: 'endSessions',
    request: 'DELETE /sessions',
    role: 'invited',
    summary: "End all of the caller's sessions",
    description: 'The one of this call too.',
    answers: [noContent('They are ended.')],
    handle: async ({ ctx }, deps) => {
      const caller = principalOf(ctx)
      await deps.withAudit(ctx, () => ({
        action: 'session.end_all',
        target: caller.user_id ?? caller.name,
        company_id: companyOrNull(caller.company_id),
        before: null,
        after: null,
        perform: async () => deps.sessions.endAllOf(await deps.entry.ownerOf(caller)),
      }))
      ctx.set('Set-Cookie', deps.cookies.session.end())
    },
  }),
  operation({
    id: 'endSession',
    request: 'DELETE /sessions/{id}',
    role: 'invited',
    summary: "End one of the caller's sessions",
    description: 'It is refused from then on.',
    answers: [noContent('It is ended.')],
    handle: async ({ ctx, params: { id } }, deps) => {
      const caller = principalOf(ctx)
      const { ownerOf, end } = deps.entry
      if ((await deps.sessions.own(await ownerOf(caller), id)) === null) throw notFound('session')
      await end(ctx, id)
      if (caller.session?.id === id) ctx.set('Set-Cookie', deps.cookies.session.end())
    },
  }),
]

function countRequest(throttle: AttemptThrottle, caller: Caller): void {
  const waitMs = throttle.waitMs(caller)
  if (waitMs > 0)
    throw rateLimited({ scope: 'sign_in', detail: 'Too many sign-ins were tried from this address.', waitMs })
  throttle.countFailure(caller)
}

async function signInWithTicket(deps: SignInDeps, ctx: Context, ticket: string): Promise<MeAnswer> {
  const operator = await deps.tickets.use(ticket)
  if (operator) return deps.entry.begin(ctx, { operator })
  const caller_address = deps.findCaller(ctx).nearestKnown
  deps.log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.ticket_refused')
  throw httpException(401, TICKET_REFUSED)
}

async function signInWithPasskey(deps: SignInDeps, ctx: Context, passkey: Assertion): Promise<MeAnswer> {
  const { passkeys, people, cookies, log, findCaller } = deps
  const browser = cookies.flow.tokenIn(ctx)
  const owner = browser === null ? null : await passkeys.check(passkey, { purpose: 'sign_in', browser })
  const users = owner === null ? [] : await people.sameAs(owner)
  const entered = await enter(deps, ctx, users)
  if (entered) return entered
  log.warn({ request_id: ctx.state.requestId, caller_address: findCaller(ctx).nearestKnown }, 'sign_in.passkey_refused')
  throw httpException(401, 'The passkey is not known here, or took too long. Try again, or ask for a code.')
}

async function signInWithCode(deps: SignInDeps, ctx: Context, email: string, code: string): Promise<MeAnswer> {
  const { codes, clock, cookies, log, findCaller } = deps
  const askedAt = clock.now()
  const mode = await codes.mode()
  const flowToken = cookies.flow.tokenIn(ctx)
  if (flowToken === null) throw httpException(401, ASKED_ELSEWHERE)
  const users = await codes.check(email, code, { mode, trace: traceOf(ctx), flowToken })
  const entered = await enter(deps, ctx, users)
  if (entered) return entered
  const caller_address = findCaller(ctx).nearestKnown
  log.warn({ request_id: ctx.state.requestId, caller_address }, 'sign_in.code_refused')
  await sleep(clock, askedAt + REFUSAL_MS - clock.now())
  throw httpException(401, 'The code is wrong, has expired or was used before. Ask for a new one.')
}

/** Begins a session of the person who has these users; null where there are none. */
async function enter(deps: SignInDeps, ctx: Context, users: readonly UserDoc[]): Promise<MeAnswer | null> {
  const [first, user] = [users[0], landingOf(users)]
  if (!first || !user) return null
  const entered = await deps.entry.begin(ctx, { user })
  await knowBrowser(deps, ctx, first, users)
  return entered
}

/** From now on the browser has sign-in mails of its own for this person, who is known by the first of the users. A person who has signed in
 *  before, elsewhere, is told of it. */
async function knowBrowser(deps: SignInDeps, ctx: Context, first: UserDoc, users: readonly UserDoc[]): Promise<void> {
  const { cookies, browsers, newBrowserMail, runAfterAnswer, log } = deps
  const had = cookies.device.tokenIn(ctx)
  const isNew = had === null || (await browsers.known(had, first._id)) === null
  const token = had ?? newCookieToken()
  await browsers.remember(token, first._id)
  ctx.append('Set-Cookie', [cookies.device.give(token, KNOWN_BROWSER_MS), cookies.flow.end()])
  if (!isNew || users.every(({ last_sign_in_at }) => last_sign_in_at === null)) return
  const [browser, trace] = [describeBrowser(ctx.get('user-agent')), traceOf(ctx)]
  try {
    runAfterAnswer(ctx.res, () => newBrowserMail.send(first, browser, trace))
  } catch (error) {
    log.warn({ user_id: first._id, err: error }, 'sign_in.mail_not_sent')
  }
}

const sessionView = (session: SessionDoc, caller: Principal): SessionAnswer => ({
  id: session._id,
  at: isoTime(session.created_at),
  last_seen_at: isoTime(session.seen_at),
  expires_at: isoTime(endsAt(session)),
  browser: session.browser,
  current: session._id === caller.session?.id,
})
