// One running Countersign for a flow test. In: which engines, and what differs from the defaults. Out: helpers that create tenants and
// keys, call both APIs over HTTP, read the sandbox's inbox and advance the clock.
// On the embedded engines the clock stands still until a test advances it; on the real engines it runs, and a test can set it forward.
import { expect } from 'chai'
import type { KeyKind, Mode } from '../../machines/otp.ts'
import type { InboxMessage } from '../../services/dashboard/sandbox/inbox.ts'
import { type Answer, ask, type Caller, createCaller } from './api-caller.ts'
import { type TestClock, testClock } from './clock.ts'
import { type Countersign, type StartOptions, startCountersign } from './countersign.ts'
import { eventually, eventuallyAdvancing } from './eventually.ts'
import { createRunningClock } from './running-clock.ts'

export interface Tenant {
  company: string
  app: string
  /** Calls with a server key of test mode. */
  server: Caller
  /** Calls with a publishable key of test mode. */
  device: Caller
}

interface EventView {
  id: string
  type: string
  mode: Mode
  payload: Record<string, string>
  attempts: { status: number | null; response: string | null }[]
}

export interface Flow {
  countersign: Countersign
  clock: TestClock
  /** Calls the admin API; `path` follows /admin/v1. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates an app with two test keys, in a new company unless one is given. */
  createTenant(settings?: object, company?: string): Promise<Tenant>
  /** Calls the public API with an existing key. */
  caller(key: string): Caller
  /** Creates an API key, in test mode unless told otherwise, and calls the public API with it. */
  createKey(app: string, kind: KeyKind, mode?: Mode): Promise<Caller & { id: string }>
  /** Changes an app's settings and waits until every process has them. */
  changeSettings(app: string, settings: object): Promise<void>
  advance(ms: number): Promise<void>
  /** Retries an assertion until it holds. A clock that stands still advances a little before each retry. */
  eventually<T>(assertion: () => T | Promise<T>): Promise<T>
  /** Advances a clock that stands still until the promise is settled. */
  advanceUntil<T>(work: Promise<T>): Promise<T>
  /** The sandbox's messages to a recipient, newest first. */
  inbox(recipient: string): Promise<InboxMessage[]>
  /** The newest code in a recipient's inbox, once the inbox holds `messages` messages. */
  waitForCode(recipient: string, messages?: number): Promise<string>
  /** Sends to a fresh number and waits for the code. */
  startVerification(by: Caller): Promise<StartedVerification>
  /** The webhook events of an app. */
  events(app: string): Promise<EventView[]>
  /** Checks that a refusal states the same waiting time in the Retry-After header and in its body. */
  expectRetryAfter(answer: Answer, seconds: number): void
  stop(): Promise<void>
}

export interface StartedVerification {
  otp_id: string
  to: string
  code: string
}

/** The longest time for which a process caches an app, a key, prices or providers. */
export const CACHE_TTL_MS = 5_000

let numbers = 0
/** A US number that no other test uses. */
export const freshNumber = (): string => {
  numbers += 1
  return `+1415556${String(numbers).padStart(4, '0')}`
}

export const wrongCode = (code: string): string => code.replace(/.$/, last => String((Number(last) + 1) % 10))

export async function startFlow(options: StartOptions): Promise<Flow> {
  const isClockFixed = options.engines === 'embedded'
  const clock = isClockFixed ? testClock() : createRunningClock()
  // One delay each: every delay is a wait queue, and declaring queues takes most of a start on RabbitMQ.
  const env = { CHANNEL_BACKOFF: '200', WEBHOOK_BACKOFF: '200', TRUSTED_PROXIES: '127.0.0.1/32', ...options.env }
  const countersign = await startCountersign({ ...options, clock, env })
  const { url, secrets } = countersign
  const token = secrets.adminTokens[0]?.token ?? ''

  const admin: Flow['admin'] = (method, path, body) =>
    ask(`${url}/admin/v1${path}`, { method, token, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const create = async (path: string, body: object): Promise<Answer['body']> => {
    const answer = await admin('POST', path, body)
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  // A clock that stands still advances by a millisecond per call, so that ids created one after the other sort in that order.
  const tick = async (): Promise<void> => (isClockFixed ? clock.advance(1) : undefined)

  const flow: Flow = {
    countersign,
    clock,
    admin,
    advance: clock.advance,
    async createTenant(settings = {}, company) {
      const owner = company ?? (await create('/companies', { name: 'Acme' })).id
      const { id: app } = await create(`/companies/${owner}/apps`, { name: 'Shop', settings })
      const [server, device] = [await flow.createKey(app, 'server'), await flow.createKey(app, 'publishable')]
      return { company: owner, app, server, device }
    },
    caller: key => createCaller(url, key, tick),
    async createKey(app, kind, mode = 'test') {
      const { id, key } = await create(`/apps/${app}/keys`, { kind, mode })
      return { ...flow.caller(key), id }
    },
    async changeSettings(app, settings) {
      const answer = await admin('PATCH', `/apps/${app}`, { settings })
      if (answer.status !== 200) throw new Error(answer.text)
      await clock.advance(CACHE_TTL_MS)
    },
    eventually: assertion => (isClockFixed ? eventuallyAdvancing(assertion, clock, STEP_MS) : eventually(assertion)),
    async advanceUntil(work) {
      let isSettled = false
      const settled = work.finally(() => {
        isSettled = true
      })
      settled.catch(() => {})
      for (let advanced = STEP_MS; !isSettled && isClockFixed; advanced += STEP_MS) {
        await clock.advance(STEP_MS)
        await new Promise(resolve => setTimeout(resolve, advanced < FAST_MS ? 1 : STEP_MS))
      }
      return settled
    },
    inbox: async recipient =>
      (await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)).body as InboxMessage[],
    // A message to the sandbox arrives without the clock advancing.
    waitForCode: (recipient, messages = 1) =>
      eventually(async () => {
        const arrived = await flow.inbox(recipient)
        expect(arrived, `messages to ${recipient}`).to.have.length(messages)
        return arrived[0]?.code ?? ''
      }),
    async startVerification(by) {
      const to = freshNumber()
      const { status, body, text } = await by.send(to)
      if (status !== 200)
        throw new Error(`not sent: ${text}; the log: ${JSON.stringify(problemsIn(countersign.log.lines()))}`)
      return { otp_id: body.otp_id, to, code: await flow.waitForCode(to) }
    },
    events: async app => (await admin('GET', `/apps/${app}/events?limit=100`)).body.items,
    expectRetryAfter({ headers, body }, seconds) {
      expect(headers.get('retry-after')).to.equal(String(body.retry_after))
      if (isClockFixed) expect(body.retry_after).to.equal(seconds)
      else expect(body.retry_after).to.be.within(1, seconds)
    },
    async stop() {
      await flow.advanceUntil(countersign.stop())
      await countersign.site.wipe()
    },
  }
  return flow
}

/** The last lines that may explain a refusal. */
const problemsIn = (lines: readonly Record<string, unknown>[]) =>
  lines.filter(({ level }) => level === 'warn' || level === 'error').slice(-5)

/** How far a clock that stands still advances at a time. */
const STEP_MS = 25
/** After this time the clock goes no faster than a real one: on a slow machine it would reach the time limits of calls
 *  that only need longer. */
const FAST_MS = 1_000
