// The webhook actor and the sweeper on a store of a test's own, calling endpoints that exist only here. Time stands still until it is
// moved. Apps are `app_shop` (with an endpoint), `app_blog` (with another) and `app_bare` (with none).
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Broker, Consumer, Message } from '../../infra/broker/broker.ts'
import { embeddedBroker } from '../../infra/broker/embedded.ts'
import { topology } from '../../infra/broker/topology.ts'
import type { Service } from '../../infra/host.ts'
import { newId } from '../../infra/ids.ts'
import { createMetrics, type Metrics } from '../../infra/metrics.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../infra/outbound/outbound.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { stepEndpoint } from '../../machines/endpoint.step.ts'
import { type WebhookControl, webhookControl } from '../../services/dashboard/webhook-control.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { EventDoc, WebhookEndpoint } from '../../services/domain/webhooks/documents.ts'
import { brokerDelays } from '../../services/domain/webhooks/ladder.ts'
import type { NotifyBody } from '../../services/domain/webhooks/work.ts'
import { sweeper } from '../../services/sweeper/service.ts'
import { webhook } from '../../services/webhook/service.ts'
import { type CapturedLog, capturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { eventually } from './eventually.ts'
import { testKeyring } from './tenancy.ts'

export interface Called {
  url: string
  at: number
  headers: Readonly<Record<string, string>>
  body: string
  event_id: string
}

/** How an endpoint answers: a status, or whatever else it does. */
export type Answers = (call: Called, signal: AbortSignal) => number | Promise<number | OutboundResponse>

export const SECONDS = 1000
export const MINUTES = 60 * SECONDS
export const HOURS = 60 * MINUTES
export const BACKOFF = [5 * SECONDS, MINUTES, 2 * MINUTES]

export interface WebhookWorld {
  store: CountersignStore
  clock: TestClock
  log: CapturedLog
  metrics: Metrics
  control: WebhookControl
  calls: Called[]
  /** How endpoints answer from now on, by app; 200 unless told. */
  answering(app: string, answers: Answers): void
  /** Something happened; resolves when the actor has it. Answers the event's id. */
  happen(app: string, fact?: Partial<NotifyBody>): Promise<string>
  /** A message on the actor's queue. */
  publish(message: Message): Promise<void>
  /** The next questions, as many, find the store away. */
  storeAway(questions: number): void
  /** Does something just before the actor next asks the store this, `<collection>.<method>`. */
  before(question: string, deed: () => Promise<unknown>): void
  event(id: string): Promise<EventDoc>
  endpoint(app: string): Promise<WebhookEndpoint>
  /** Gives an app an endpoint, as the others have. */
  endow(app: string): Promise<void>
  callsOf(event_id: string): Called[]
  /** Tries until it holds, time passing by a little. */
  soon<T>(assertion: () => T | Promise<T>): Promise<T>
  /** Resolves when nothing more happens unless time passes. */
  quiet(): Promise<void>
  /** Lets time pass in steps, and what it brings about happen. */
  pass(ms: number, step?: number): Promise<void>
  /** What a crash does: nothing in hand is finished, nothing that waits in the broker is left. */
  crash(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export interface WorldOptions {
  backoff?: readonly number[]
  /** For jitter: 0.5 is none. */
  random?(): number
  retention_days?: number
  /** Whether there is a sweeper: its leases make long times slow. */
  swept?: boolean
}

const webhookOf = (app: string) => ({ url: `https://${app}.example/hooks`, secret: `whsec_${secretOf(app)}` })
export const secretOf = (app: string): string => Buffer.from(`the secret of ${app}, long enough`).toString('base64')

export async function webhookWorld(store: CountersignStore, options: WorldOptions = {}): Promise<WebhookWorld> {
  const { backoff = BACKOFF, random = () => 0.5, retention_days, swept = true } = options
  const clock = testClock()
  const keyring = testKeyring()
  const log = capturedLog()
  const metrics = createMetrics()
  const settings = retention_days === undefined ? {} : { settings: { retention_days } }
  const apps = ['app_shop', 'app_blog'].map(id => ({ id, name: id, webhook: webhookOf(id), ...settings }))
  const companies = [{ id: 'cmp_acme', name: 'Acme', apps: [...apps, { id: 'app_bare', name: 'Bare', ...settings }] }]
  await applyBootstrap(readBootstrap(JSON.stringify({ companies })), { store, keyring, clock })

  const calls: Called[] = []
  const answers = new Map<string, Answers>()
  const outbound: Outbound = {
    async request(request) {
      const call = calledWith(request, clock.now())
      calls.push(call)
      const app = new URL(call.url).hostname.replace('.example', '')
      const answer = await (answers.get(app)?.(call, request.signal) ?? 200)
      return typeof answer === 'number' ? { status: answer, headers: {}, body: Buffer.from('') } : answer
    },
    resolve: async host => host,
    close: async () => {},
  }

  let broker: Broker
  let services: Service[] = []
  let consumers: Consumer[] = []
  let alive: Life = { yes: true, asking: 0, away: 0, before: new Map() }
  const published: Pick<Broker, 'publish'> = { publish: (queue, message) => broker.publish(queue, message) }
  const control = webhookControl({ ...{ store, clock, log: log.log }, broker: published, step: stepEndpoint })

  async function start(): Promise<void> {
    const delays = topology(brokerDelays({ channel: [1000], webhook: backoff }))
    broker = embeddedBroker({ topology: delays, clock, log: log.log })
    alive = { yes: true, asking: 0, away: 0, before: new Map() }
    const parts = { broker, clock, log: log.log, metrics, keyring, store: untilDead(store, alive) }
    services = [
      webhook({ ...parts, outbound, random, config: { backoff: { channel: [], webhook: backoff } } }),
      ...(swept ? [sweeper({ ...parts, outbound })] : []),
    ]
    consumers = (await Promise.all(services.map(service => service.attach?.() ?? []))).flat()
  }

  const world: WebhookWorld = {
    ...{ store, clock, log, metrics, control, calls, start },
    answering: (app, how) => void answers.set(app, how),
    async happen(app, fact = {}) {
      await clock.advance(1)
      const at = clock.now()
      const event_id = fact.event_id ?? newId('evt', at)
      const body: NotifyBody = {
        ...{ event_id, app_id: app, company_id: 'cmp_acme', mode: 'test', type: 'otp.approved' },
        ...{ payload: { otp_id: 'otp_1', status: 'approved' }, at, ...fact },
      }
      await broker.publish('webhook.deliver', { id: event_id, body })
      return event_id
    },
    publish: message => broker.publish('webhook.deliver', message),
    storeAway: questions => {
      alive.away = questions
    },
    before: (question, deed) => void alive.before.set(question, deed),
    async event(id) {
      const found = (await store.docs('events').get([id])).get(id)
      if (!found) throw new Error(`no ${id}`)
      return found
    },
    async endpoint(app) {
      const found = (await store.docs('webhooks').get([app])).get(app)
      if (!found) throw new Error(`no endpoint of ${app}`)
      return found
    },
    async endow(app) {
      const file = { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [{ id: app, webhook: webhookOf(app) }] }] }
      await applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock })
    },
    callsOf: event_id => calls.filter(call => call.event_id === event_id),
    soon: assertion =>
      eventually(async () => {
        try {
          return await assertion()
        } catch (complaint) {
          await clock.advance(20)
          throw complaint
        }
      }),
    async quiet() {
      for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
        await new Promise(resolve => setImmediate(resolve))
        if (alive.asking > 0) turns = 0
      }
    },
    async pass(ms, step = Math.min(ms, 1_000)) {
      for (let passed = 0; passed < ms; passed += step) {
        await clock.advance(Math.min(step, ms - passed))
        await world.quiet()
      }
    },
    async crash() {
      alive.yes = false
      await broker.close(0)
    },
    async stop() {
      // Whoever closed the store before us leaves nothing to finish.
      const taken = Promise.allSettled(consumers.map(consumer => consumer.stop()))
      const ended = taken.then(() => Promise.allSettled(services.map(service => service.stop?.())))
      await world.soon(() => Promise.race([ended, new Promise((_, reject) => setImmediate(reject))]))
      await broker.close(0)
    },
  }
  await start()
  return world
}

function calledWith({ url, headers, body }: OutboundRequest, at: number): Called {
  const text = Buffer.from(body ?? '').toString()
  return { url, at, headers, body: text, event_id: JSON.parse(text).id }
}

/** What one thing leads to in the same process takes a few turns of the event loop. */
const QUIET_TURNS = 8

interface Life {
  yes: boolean
  /** Questions to the store that are not answered yet. */
  asking: number
  /** How many more find it away. */
  away: number
  before: Map<string, () => Promise<unknown>>
}

/** A dead process writes nothing: whatever it still wants of the store never comes back. */
function untilDead(store: CountersignStore, life: Life): CountersignStore {
  const never = new Promise<never>(() => {})
  const counted =
    (question: string, call: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]): Promise<unknown> => {
      if (!life.yes) return never
      const deed = life.before.get(question)
      life.before.delete(question)
      await deed?.()
      if (life.away > 0) {
        life.away -= 1
        throw new Unavailable('away')
      }
      life.asking += 1
      try {
        return await call(...args)
      } finally {
        life.asking -= 1
      }
    }
  return {
    ...store,
    docs(name) {
      const methods = Object.entries(store.docs(name)) as [string, (...args: never[]) => Promise<unknown>][]
      return Object.fromEntries(methods.map(([method, call]) => [method, counted(`${name}.${method}`, call)])) as never
    },
  }
}

/** An endpoint that answers when a test says so. */
export function hanging(): { answers: Answers; waiting(): number; answerAll(status: number): void } {
  const open = new Set<(status: number) => void>()
  return {
    answers: (_, signal) =>
      new Promise((resolve, reject) => {
        open.add(resolve)
        signal.addEventListener('abort', () => {
          open.delete(resolve)
          reject(signal.reason)
        })
      }),
    waiting: () => open.size,
    answerAll(status) {
      for (const answer of open) answer(status)
      open.clear()
    },
  }
}

export const expectStatus = async (world: WebhookWorld, id: string, status: EventDoc['status']): Promise<EventDoc> => {
  const event = await world.event(id)
  expect(event.status, id).to.equal(status)
  return event
}
