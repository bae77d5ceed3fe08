// The webhook actor and the sweeper on a store of their own, calling endpoints that exist only in the test. Time passes only when a test
// advances it. Apps are `app_shop` and `app_blog`, each with an endpoint, and `app_bare` without one.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Broker, Consumer, Message } from '../../infra/broker/broker.ts'
import { createEmbeddedBroker } from '../../infra/broker/embedded.ts'
import { createTopology } from '../../infra/broker/topology.ts'
import type { Service } from '../../infra/host.ts'
import { newId } from '../../infra/ids.ts'
import { createMetrics, type Metrics } from '../../infra/metrics.ts'
import type { Outbound, OutboundRequest, OutboundResponse } from '../../infra/outbound/outbound.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { createWebhookControl, type WebhookControl } from '../../services/dashboard/webhook/control.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import type { EventDoc, WebhookEndpoint } from '../../services/domain/webhooks/documents.ts'
import { parseEventId } from '../../services/domain/webhooks/event-ids.ts'
import type { NotifyBody } from '../../services/domain/webhooks/queue-messages.ts'
import { brokerDelays } from '../../services/domain/webhooks/retry-waits.ts'
import { createSweeperService } from '../../services/sweeper/service.ts'
import { createWebhookService } from '../../services/webhook/service.ts'
import { type CapturedLog, createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { TEST_PROVIDER_CONFIG } from './config.ts'
import { eventuallyAdvancing } from './eventually.ts'
import { testKeyring } from './tenancy.ts'

interface RecordedCall {
  url: string
  at: number
  headers: Readonly<Record<string, string>>
  body: string
  event_id: string
}

/** How an endpoint answers: with a status, with a whole response, or by throwing. */
type Respond = (call: RecordedCall, signal: AbortSignal) => number | Promise<number | OutboundResponse>

export const SECONDS = 1000
export const MINUTES = 60 * SECONDS
export const HOURS = 60 * MINUTES
export const BACKOFF = [5 * SECONDS, MINUTES, 2 * MINUTES]

export interface WebhookHarness {
  store: CountersignStore
  clock: TestClock
  log: CapturedLog
  metrics: Metrics
  control: WebhookControl
  calls: RecordedCall[]
  /** Sets how an app's endpoint answers from now on; by default with 200. */
  respondWith(app: string, respond: Respond): void
  /** Publishes an event; resolves when the actor has handled it. Answers the event's id. */
  emitEvent(app: string, fact?: Partial<NotifyBody>): Promise<string>
  /** Publishes a message on the actor's queue. */
  publish(message: Message): Promise<void>
  /** Makes the next calls of the store fail, so many of them. */
  failStore(failures: number): void
  /** Runs an action before the actor's next call of the store's `<collection>.<method>`. */
  beforeStoreCall(method: string, action: () => Promise<unknown>): void
  event(id: string): Promise<EventDoc>
  endpoint(app: string): Promise<WebhookEndpoint>
  /** Gives an app an endpoint like those of the other apps. */
  addEndpoint(app: string): Promise<void>
  callsOf(event_id: string): RecordedCall[]
  /** Retries an assertion until it holds, advancing the clock a little each time. */
  soon<T>(assertion: () => T | Promise<T>): Promise<T>
  /** Resolves when nothing more happens until time passes. */
  settle(): Promise<void>
  /** Advances the clock in steps, and settles after each. */
  passTime(ms: number, step?: number): Promise<void>
  /** As a crash does: no work is finished, and the broker's messages are lost. */
  crash(): Promise<void>
  start(): Promise<void>
  /** As the host does while the clock of a process is wrong; of all processes, or of the nth one. */
  pause(process?: number): void
  resume(process?: number): void
  stop(): Promise<void>
}

export interface HarnessOptions {
  backoff?: readonly number[]
  /** For the jitter; 0.5 means none. */
  random?(): number
  retention_days?: number
  /** Whether the sweeper runs. Without it, tests that advance the clock by hours are faster. */
  withSweeper?: boolean
  /** How many webhook actors share the store, the broker and the clock; one by default. */
  processes?: number
}

const webhookOf = (app: string) => ({ url: `https://${app}.example/hooks`, secret: `whsec_${secretOf(app)}` })
export const secretOf = (app: string): string => Buffer.from(`the secret of ${app}, long enough`).toString('base64')

/** Crash tests here run several processes on one store. */
const SHARED = { kind: 'real', mongodbUrl: '', amqpUrls: [] } as const

export async function createWebhookHarness(
  store: CountersignStore,
  options: HarnessOptions = {},
): Promise<WebhookHarness> {
  const { backoff = BACKOFF, random = () => 0.5, retention_days, withSweeper = true, processes = 1 } = options
  const clock = testClock()
  const keyring = testKeyring()
  const log = createCapturedLog()
  const metrics = createMetrics()
  const settings = retention_days === undefined ? {} : { settings: { retention_days } }
  const apps = ['app_shop', 'app_blog'].map(id => ({ id, name: id, webhook: webhookOf(id), ...settings }))
  const companies = [{ id: 'cmp_acme', name: 'Acme', apps: [...apps, { id: 'app_bare', name: 'Bare', ...settings }] }]
  await applyBootstrap(readBootstrap(JSON.stringify({ companies })), { store, keyring, clock })

  const calls: RecordedCall[] = []
  const responders = new Map<string, Respond>()
  const outbound: Outbound = {
    async request(request) {
      const call = recordCall(request, clock.now())
      calls.push(call)
      const app = new URL(call.url).hostname.replace('.example', '')
      const answer = await (responders.get(app)?.(call, request.signal) ?? 200)
      return typeof answer === 'number' ? { status: answer, headers: {}, body: Buffer.from('') } : answer
    },
    resolve: async host => host,
    close: async () => {},
  }

  let broker: Broker
  let services: Service[] = []
  /** Of each service. */
  let consumers: Consumer[][] = []
  let processState: ProcessState = { running: true, openCalls: new Set(), failuresLeft: 0, before: new Map() }
  const publisher: Pick<Broker, 'publish'> = { publish: (queue, message) => broker.publish(queue, message) }
  const control = createWebhookControl({ store, clock, log: log.log, broker: publisher })

  async function start(): Promise<void> {
    const delays = createTopology(brokerDelays({ channel: [1000], webhook: backoff }))
    broker = createEmbeddedBroker({ topology: delays, clock, log: log.log })
    processState = { running: true, openCalls: new Set(), failuresLeft: 0, before: new Map() }
    const deps = { broker, clock, log: log.log, metrics, keyring, store: crashableStore(store, processState) }
    const config = { backoff: { channel: [], webhook: backoff } }
    services = [
      ...Array.from({ length: processes }, () => createWebhookService({ ...deps, outbound, random, config })),
      ...(withSweeper
        ? [createSweeperService({ ...deps, outbound, config: { engine: SHARED, ...TEST_PROVIDER_CONFIG } })]
        : []),
    ]
    consumers = await Promise.all(services.map(async service => (await service.attach?.()) ?? []))
  }

  function setWorking(working: boolean, process: number | undefined): void {
    for (const [at, service] of services.entries()) {
      if (process !== undefined && process !== at) continue
      ;(working ? service.resume : service.pause)?.()
      for (const consumer of consumers[at] ?? []) void (working ? consumer.resume() : consumer.pause())
    }
  }

  const harness: WebhookHarness = {
    store,
    clock,
    log,
    metrics,
    control,
    calls,
    start,
    respondWith: (app, respond) => void responders.set(app, respond),
    async emitEvent(app, fact = {}) {
      await clock.advance(1)
      const at = clock.now()
      const event_id = fact.event_id ?? newId('evt', at)
      const body: NotifyBody = {
        event_id,
        app_id: app,
        company_id: 'cmp_acme',
        mode: 'live',
        type: 'otp.approved',
        payload: { otp_id: 'otp_1', status: 'approved' },
        at,
        ...fact,
      }
      await broker.publish('webhook.deliver', { id: event_id, body })
      return event_id
    },
    publish: message => broker.publish('webhook.deliver', message),
    failStore: failures => {
      processState.failuresLeft = failures
    },
    beforeStoreCall: (method, action) => void processState.before.set(method, action),
    async event(id) {
      const { _id } = parseEventId(id)
      const found = (await store.docs('events').get([_id])).get(_id)
      if (!found) throw new Error(`no ${id}`)
      return found
    },
    async endpoint(app) {
      const found = (await store.docs('webhooks').get([app])).get(app)
      if (!found) throw new Error(`no endpoint of ${app}`)
      return found
    },
    async addEndpoint(app) {
      const file = { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [{ id: app, webhook: webhookOf(app) }] }] }
      await applyBootstrap(readBootstrap(JSON.stringify(file)), { store, keyring, clock })
    },
    callsOf: event_id => calls.filter(call => call.event_id === event_id),
    soon: assertion => eventuallyAdvancing(assertion, clock, 20),
    async settle() {
      for (let turns = 0; turns < SETTLE_TURNS; turns += 1) {
        await new Promise(resolve => setImmediate(resolve))
        if (processState.openCalls.size === 0) continue
        await Promise.allSettled(processState.openCalls)
        turns = 0
      }
    },
    async passTime(ms, step = ms > LONG_MS ? 5_000 : 1_000) {
      for (let passed = 0; passed < ms; passed += step) {
        await clock.advance(Math.min(step, ms - passed))
        await harness.settle()
      }
    },
    async crash() {
      processState.running = false
      await broker.close(0)
    },
    pause: process => setWorking(false, process),
    resume: process => setWorking(true, process),
    async stop() {
      // A test may have closed the store already, and then stopping fails. The grace is shorter than a call may take.
      const detached = Promise.allSettled(consumers.flat().map(consumer => consumer.stop(STOP_GRACE_MS)))
      const ended = detached.then(() => Promise.allSettled(services.map(service => service.stop?.())))
      await harness.soon(() => Promise.race([ended, new Promise((_, reject) => setImmediate(reject))]))
      await broker.close(0)
    },
  }
  await start()
  return harness
}

function recordCall({ url, headers, body }: OutboundRequest, at: number): RecordedCall {
  const text = Buffer.from(body ?? '').toString()
  return { url, at, headers, body: text, event_id: JSON.parse(text).id }
}

const STOP_GRACE_MS = 1_000

/** Over a longer time the clock takes longer steps: the sweeper works in each. */
const LONG_MS = 30_000

/** The consequences of one step take a few turns of the event loop. */
const SETTLE_TURNS = 8

interface ProcessState {
  running: boolean
  /** Calls of the store that are not answered yet. */
  openCalls: Set<Promise<unknown>>
  /** How many more calls of the store fail. */
  failuresLeft: number
  before: Map<string, () => Promise<unknown>>
}

/** A crashed process writes nothing: its calls of the store never settle. */
function crashableStore(store: CountersignStore, state: ProcessState): CountersignStore {
  const neverSettles = new Promise<never>(() => {})
  const counted =
    (method: string, call: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]): Promise<unknown> => {
      if (!state.running) return neverSettles
      const action = state.before.get(method)
      state.before.delete(method)
      await action?.()
      if (state.failuresLeft > 0) {
        state.failuresLeft -= 1
        throw new Unavailable('away')
      }
      const answer = call(...args)
      state.openCalls.add(answer)
      try {
        return await answer
      } finally {
        state.openCalls.delete(answer)
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

/** An endpoint that answers when the test calls `answerAll`. */
export function hangingEndpoint(): { answers: Respond; waiting(): number; answerAll(status: number): void } {
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

export const expectStatus = async (
  harness: WebhookHarness,
  id: string,
  status: EventDoc['status'],
): Promise<EventDoc> => {
  const event = await harness.event(id)
  expect(event.status, id).to.equal(status)
  return event
}
