// The whole pipeline over HTTP, and what a test does with it: makes apps and keys, sends, reads the sandbox's inbox, lets time pass.
// Time stands still on the embedded engines and runs on the real ones; on both it can be moved.
import { expect } from 'chai'
import type { KeyKind, Mode } from '../../machines/otp.ts'
import type { InboxMessage } from '../../services/dashboard/sandbox/inbox.ts'
import { type Answer, ask, type Caller, createCaller } from './api-caller.ts'
import { type TestClock, testClock } from './clock.ts'
import { type Countersign, type StartOptions, startCountersign } from './countersign.ts'
import { eventually } from './eventually.ts'
import { createRunningClock } from './running-clock.ts'
import type { EngineSet } from './site.ts'

export interface Tenant {
  company: string
  app: string
  /** With test keys. */
  server: Caller
  device: Caller
}

export interface EventView {
  id: string
  type: string
  mode: Mode
  payload: Record<string, string>
  attempts: { status: number | null; response: string | null }[]
}

export interface Flow {
  countersign: Countersign
  engines: EngineSet
  clock: TestClock
  admin(method: string, path: string, body?: unknown): Promise<Answer>
  /** An app of its own, in a company of its own unless told. */
  tenant(settings?: object, company?: string): Promise<Tenant>
  caller(key: string): Caller
  key(app: string, kind: KeyKind, mode?: Mode): Promise<Caller & { id: string }>
  changeSettings(app: string, settings: object): Promise<void>
  /** Lets time pass. */
  advance(ms: number): Promise<void>
  /** Tries until it holds, time passing by a little where it does not pass by itself. */
  eventually<T>(assertion: () => T | Promise<T>): Promise<T>
  /** Time passes by until the work is done. */
  advanceUntil<T>(work: Promise<T>): Promise<T>
  /** The sandbox's messages, newest first. */
  inbox(recipient: string): Promise<InboxMessage[]>
  /** The newest code that arrived for a recipient, once `messages` of them did. */
  code(recipient: string, messages?: number): Promise<string>
  /** A verification of a number of its own, and its code. */
  startVerification(by: Caller): Promise<StartedVerification>
  events(app: string): Promise<EventView[]>
  /** That a refusal says in its header and its body alike how long to wait. */
  expectRetryAfter(answer: Answer, seconds: number): void
  stop(): Promise<void>
}

export interface StartedVerification {
  otp_id: string
  to: string
  code: string
}

/** Past what any process remembers of an app or a key. */
export const CACHES_MS = 5_000

let numbers = 0
/** A US number nobody else has. */
export const freshNumber = (): string => {
  numbers += 1
  return `+1415556${String(numbers).padStart(4, '0')}`
}

export const wrongCode = (code: string): string => code.replace(/.$/, last => String((Number(last) + 1) % 10))

export async function startFlow(options: StartOptions): Promise<Flow> {
  const isClockFixed = options.engines === 'embedded'
  const clock = isClockFixed ? testClock() : createRunningClock()
  // One wait queue each: declaring them is most of a start.
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
  // Where time stands still, each call takes a millisecond: ids made one after the other sort in that order.
  const tick = async (): Promise<void> => (isClockFixed ? clock.advance(1) : undefined)
  const nudge = (): Promise<unknown> => (isClockFixed ? clock.advance(STEP_MS) : Promise.resolve())

  const flow: Flow = {
    countersign,
    engines: options.engines,
    clock,
    admin,
    advance: clock.advance,
    async tenant(settings = {}, company) {
      const owner = company ?? (await create('/companies', { name: 'Acme' })).id
      const { id: app } = await create(`/companies/${owner}/apps`, { name: 'Shop', settings })
      return { company: owner, app, server: await flow.key(app, 'server'), device: await flow.key(app, 'publishable') }
    },
    caller: key => createCaller(url, key, tick),
    async key(app, kind, mode = 'test') {
      const { id, key } = await create(`/apps/${app}/keys`, { kind, mode })
      return { ...flow.caller(key), id }
    },
    async changeSettings(app, settings) {
      const answer = await admin('PATCH', `/apps/${app}`, { settings })
      if (answer.status !== 200) throw new Error(answer.text)
      await clock.advance(CACHES_MS)
    },
    eventually: assertion =>
      eventually(async () => {
        try {
          return await assertion()
        } catch (failure) {
          await nudge()
          throw failure
        }
      }),
    async advanceUntil(work) {
      let over = false
      const settled = work.finally(() => {
        over = true
      })
      settled.catch(() => {})
      while (!over && isClockFixed) {
        await clock.advance(STEP_MS)
        await new Promise(resolve => setTimeout(resolve, 1))
      }
      return settled
    },
    inbox: async recipient =>
      (await admin('GET', `/sandbox/messages?recipient=${encodeURIComponent(recipient)}`)).body as InboxMessage[],
    // No time has to pass for it.
    code: (recipient, messages = 1) =>
      eventually(async () => {
        const arrived = await flow.inbox(recipient)
        expect(arrived, `messages to ${recipient}`).to.have.length(messages)
        return arrived[0]?.code ?? ''
      }),
    async startVerification(by) {
      const to = freshNumber()
      const { status, body, text } = await by.send(to)
      if (status !== 200) throw new Error(`not sent: ${text}`)
      return { otp_id: body.otp_id, to, code: await flow.code(to) }
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

/** How much passes at a time where time has to be moved. */
const STEP_MS = 25
