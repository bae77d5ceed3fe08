// A channel actor for tests: on a given store and a fake clock, with a list in place of the broker's report queue.
import type { DeliveredMessage, Message, Outcome } from '../../infra/broker/broker.ts'
import { createCache } from '../../infra/cache.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type OtpCommand, step } from '../../machines/otp.step.ts'
import { createBreakerReports } from '../../services/channel/admission/breaker-reports.ts'
import { createExcess, type Excess } from '../../services/channel/admission/excess.ts'
import { createProviderGates } from '../../services/channel/admission/provider-gates.ts'
import type { SendApprovalReply } from '../../services/channel/approval-reply.ts'
import { createCallProvider } from '../../services/channel/call-provider.ts'
import { createCandidates } from '../../services/channel/candidates.ts'
import { createDeliver } from '../../services/channel/deliver.ts'
import { createLoadReports } from '../../services/channel/load-reports.ts'
import type { Accepted, DeliveryMessage, Provider } from '../../services/channel/provider.ts'
import { createProviderAttempts } from '../../services/channel/provider-attempts.ts'
import {
  createBuildProvider,
  PROVIDER_FACTORIES,
  type ProviderFactories,
} from '../../services/channel/providers/factories.ts'
import { createSandboxProvider } from '../../services/channel/providers/sandbox.ts'
import { createPublishReport } from '../../services/channel/report-publisher.ts'
import { createRouteOrder } from '../../services/channel/route-order.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { createTenancy } from '../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import type { OtpReport, ReportBundle } from '../../services/domain/verifications/queue-messages.ts'
import { createCapturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { promiseState } from './promise-state.ts'
import { createTenant, deliverBody } from './queued-otps.ts'
import { testKeyring } from './tenancy.ts'

export const TIMEOUT_MS = 8_000
export const UNKNOWN_WAIT_MS = 15_000
export const UNDER_WAY_MS = TIMEOUT_MS + 2_000
export const REDELIVERED_UNDER_WAY_MS = 2_500
export const BACKOFF = [1_000, 5_000, 15_000]

/** As where other apps have messages in the channel. */
export const HOLDS_NONE: Excess = { hold: async () => false, wake() {}, close() {}, open() {} }

/** The providers of these tests make no calls over the network. */
const outbound: Outbound = {
  request: () => Promise.reject(new Error('no outbound call is expected here')),
  resolve: () => Promise.reject(new Error('no outbound call is expected here')),
  close: async () => {},
}

interface PublishedReport extends Message {
  body: Extract<OtpReport, { type: 'delivery.reported' }>
}

export interface ChannelActorOptions {
  /** That of another actor: two processes of one channel on one store. */
  sharedClock?: TestClock
  soleProcess?: boolean
  /** The most calls at once to each provider. */
  maxCalls?: number
  /** Holds messages while its app is alone in the channel; otherwise it acts as if it never were. */
  holds?: boolean
  /** In place of a random number. */
  random?: () => number
}

export function createChannelActor(
  store: CountersignStore,
  factories: Partial<ProviderFactories> = {},
  {
    sharedClock = testClock(),
    soleProcess = false,
    maxCalls = 200,
    random = () => 0.5,
    holds = false,
  }: ChannelActorOptions = {},
) {
  const { clock, isWaiting } = createWatchedClock(sharedClock)
  const keyring = testKeyring()
  const captured = createCapturedLog()
  const { log } = captured
  const reports: PublishedReport[] = []
  let failingPublishes = 0
  const broker = {
    publish: async (_: string, message: Message) => {
      if (failingPublishes > 0) {
        failingPublishes -= 1
        throw new Unavailable('no broker')
      }
      const body = message.body as OtpReport | ReportBundle
      const all = body.type === 'reports' ? body.all.map(({ id, report }) => ({ id, body: report })) : [message]
      reports.push(...(all as PublishedReport[]))
    },
  }
  const tenants = createTenancy({ store, keyring, clock })
  const attempts = createProviderAttempts({ attempts: store.docs('attempts'), clock, soleProcess })
  const publishReport = createPublishReport({ broker, clock })
  const inbox = createSandboxProvider({ messages: store.docs('sandbox_messages'), keyring, clock, publishReport })
  const metrics = createMetrics()
  const buildProvider = createBuildProvider({
    factories: { ...PROVIDER_FACTORIES, ...factories },
    providerDeps: { outbound, clock },
    publicUrl: 'https://otp.example',
  })
  const breakerReports = createBreakerReports({ breakers: store.docs('breakers'), clock, log })
  // What it writes each second is no wait of a message.
  const loads = createLoadReports({ channel: 'sms', loads: store.docs('channel_loads'), clock: sharedClock, log })
  const excess = holds
    ? createExcess({ channel: 'sms', otps: store.docs('otps'), clock, log, onHeld: loads.markBusy })
    : HOLDS_NONE
  const gates = createProviderGates({ channel: 'sms', maxCalls, clock, log, metrics, breakerReports, excess })
  let askedForPermit = 0
  const candidates = createCandidates({
    channel: 'sms',
    tenancy: tenants,
    sandbox: inbox,
    buildProvider,
    onReplaced: gates.forget,
    clock,
  })
  const sendApprovalReply: SendApprovalReply = () => Promise.reject(new Error('no approval reply is expected here'))
  const apps = createCache(id => tenants.app(id), { ttlMs: 5000, maxSize: 10, clock })
  const deliver = createDeliver({
    otps: store.docs('otps'),
    sendApprovalReply,
    log,
    attempts,
    candidates,
    orderCandidates: createRouteOrder({ facts: store.docs('route_facts'), apps, clock, log }),
    publishReport,
    clock,
    random,
    gates: {
      busyMs: gates.busyMs,
      hold: gates.hold,
      reserve: gates.reserve,
      admit(provider) {
        askedForPermit += 1
        return gates.admit(provider)
      },
    },
    loads,
    metrics,
    apps,
    keyring,
    callProvider: createCallProvider({ attempts, clock, log, metrics, timeoutMs: TIMEOUT_MS }),
    policy: {
      unknownWaitMs: UNKNOWN_WAIT_MS,
      underWayMs: UNDER_WAY_MS,
      redeliveredUnderWayMs: REDELIVERED_UNDER_WAY_MS,
      backoff: BACKOFF,
    },
  })
  return {
    store,
    keyring,
    clock,
    reports,
    inbox,
    metrics,
    candidates,
    gates,
    breakerReports,
    log: captured,
    /** How many messages have asked for a permit. */
    askedForPermit: () => askedForPermit,
    /** The statuses of all reports, in order. */
    statuses: () => reports.map(({ body }) => body.status),
    /** Makes the next `times` publishes fail. */
    breakBroker: (times: number) => {
      failingPublishes = times
    },
    deliver: (doc: OtpDoc, attempt = 1) => deliver(message(doc, attempt)),
    /** As the broker does after a consumer has lost its connection. */
    redeliver: (doc: OtpDoc, attempt = 1) => deliver({ ...message(doc, attempt), redelivered: true }),
    deliverAgain: (doc: OtpDoc, attempt = 1) => deliver({ ...message(doc, attempt), publishedAgain: true }),
    /** Delivers, and advances the clock while the sandbox waits for a receipt to be due, but not while the store is busy. */
    async deliverAndWait(doc: OtpDoc, attempt = 1): Promise<Outcome> {
      const delivering = deliver(message(doc, attempt))
      const state = promiseState(delivering)
      while (state.state === 'pending') await clock.advance(isWaiting() ? 10 : 0)
      return delivering
    },
    /** Does what the OTP actor would do with all reports so far. */
    async applyReports(): Promise<void> {
      for (const { id, body } of reports) await applyReport(store, id, body)
    },
  }
}

type Send = (message: DeliveryMessage, signal: AbortSignal) => Promise<Accepted>

export const acceptMessage: Send = async () => ({ reference: 'v-1' })

/** An actor and an app with one provider, `gateway`, which sends as `send` does. `sent` lists the messages it was given. */
export async function actorWithProvider(
  store: CountersignStore,
  send = acceptMessage,
  more: Partial<Provider> = {},
  options: ChannelActorOptions = {},
) {
  const sent: DeliveryMessage[] = []
  const provider: Provider = {
    send: (message: DeliveryMessage, signal) => {
      sent.push(message)
      return send(message, signal)
    },
    ...more,
  }
  const actor = createChannelActor(store, { http: () => provider }, options)
  await createTenant(actor, GATEWAY)
  return { ...actor, sent }
}

export const GATEWAY = {
  providers: [{ name: 'gateway', channel: 'sms', type: 'http', config: { url: 'https://g.example/' } }],
}

/** A clock that knows whether anything waits for less than a provider's timeout. */
function createWatchedClock(clock: TestClock): { clock: TestClock; isWaiting(): boolean } {
  const waiting = new Set<object>()
  const after: TestClock['after'] = (ms, task) => {
    const wait = {}
    if (ms < TIMEOUT_MS) waiting.add(wait)
    const cancel = clock.after(ms, () => {
      waiting.delete(wait)
      task()
    })
    return () => {
      waiting.delete(wait)
      cancel()
    }
  }
  return { clock: { ...clock, after }, isWaiting: () => waiting.size > 0 }
}

const message = (doc: OtpDoc, attempt: number): DeliveredMessage => {
  const body = deliverBody(doc)
  return { id: body.delivery_id, body, attempt, redelivered: false, publishedAt: doc.created_at }
}

async function applyReport(store: CountersignStore, id: string, body: PublishedReport['body']): Promise<void> {
  const doc = (await store.docs('otps').get([body.otp_id])).get(body.otp_id)
  if (!doc) return
  const command: OtpCommand = {
    id,
    type: 'delivery.reported',
    at: body.at,
    delivery_id: body.delivery_id,
    status: body.status,
    ...(body.provider === undefined ? {} : { provider: body.provider }),
    ...(body.reason === undefined ? {} : { reason: body.reason }),
    event_id: 'evt_1',
    usable: [],
    new_delivery_id: 'dlv_none',
    link: { sealed_url: '', reference: '' },
    prices: {},
  }
  await replaceOtp(store, { ...doc, ...step(doc, command).saved })
}

/** Replaces the stored state of a verification. */
export async function replaceOtp(store: CountersignStore, { _id, value, context }: OtpDoc): Promise<void> {
  await store.docs('otps').update([{ ids: [_id], update: { $set: { value, context } } }])
}
