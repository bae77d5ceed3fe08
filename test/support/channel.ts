// A channel actor on an embedded store and a fake clock, with a list where its news would go.
import type { Delivered, Message, Outcome } from '../../infra/broker/broker.ts'
import { cached } from '../../infra/cache.ts'
import { createMetrics } from '../../infra/metrics.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { type OtpCommand, step } from '../../machines/otp.step.ts'
import type { OtpReport } from '../../machines/reports.ts'
import { gates } from '../../services/channel/admission/gates.ts'
import { attempting } from '../../services/channel/attempt.ts'
import { building, type Makers } from '../../services/channel/build.ts'
import { choosing } from '../../services/channel/candidates.ts'
import { carrying } from '../../services/channel/carry.ts'
import { claiming } from '../../services/channel/claims.ts'
import { delivering } from '../../services/channel/deliver.ts'
import type { Provider, Rendered } from '../../services/channel/provider.ts'
import { sandbox } from '../../services/channel/providers/sandbox.ts'
import { rendering } from '../../services/channel/render.ts'
import { telling } from '../../services/channel/reports.ts'
import type { Thank } from '../../services/channel/thanks.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { tenancy } from '../../services/domain/tenancy/tenancy.ts'
import type { OtpDoc } from '../../services/domain/verifications/documents.ts'
import { capturedLog } from './captured-log.ts'
import { type TestClock, testClock } from './clock.ts'
import { deliverBody, tenant } from './deliveries.ts'
import { follow } from './follow.ts'
import { testKeyring } from './tenancy.ts'

export const TIMEOUT_MS = 8_000
export const UNKNOWN_WAIT_MS = 60_000
export const UNDER_WAY_MS = TIMEOUT_MS + 2_000
export const BACKOFF = [1_000, 5_000, 15_000]

/** Providers made up for a test call nobody. */
const outbound: Outbound = {
  request: () => Promise.reject(new Error('nobody is called here')),
  resolve: () => Promise.reject(new Error('nobody is called here')),
  close: async () => {},
}

export interface Told extends Message {
  body: Extract<OtpReport, { type: 'delivery.reported' }>
}

export function channelActor(store: CountersignStore, makers: Makers = {}) {
  const { clock, holds } = watchedClock()
  const keyring = testKeyring()
  const captured = capturedLog()
  const { log } = captured
  const told: Told[] = []
  let down = 0
  const broker = {
    publish: async (_: string, message: Message) => {
      if (down > 0) {
        down -= 1
        throw new Unavailable('no broker')
      }
      told.push(message as Told)
    },
  }
  const tenants = tenancy({ store, keyring })
  const claims = claiming({ attempts: store.docs('attempts'), clock })
  const tell = telling({ broker, clock })
  const inbox = sandbox({ messages: store.docs('sandbox_messages'), keyring, clock, tell })
  const metrics = createMetrics()
  const build = building({
    ...{
      makers: { sandbox: () => inbox, ...makers },
      tools: { outbound, clock },
      publicUrl: 'https://otp.example',
      log,
    },
  })
  const candidates = choosing({ channel: 'sms', tenancy: tenants, sandbox: inbox, build, clock })
  const carry = carrying({
    ...{ claims, candidates, tell, clock, log, gates: gates({ channel: 'sms', clock, log, metrics }) },
    render: rendering({ apps: cached(id => tenants.app(id), { forMs: 5000, most: 10, clock }), keyring }),
    attempt: attempting({ claims, clock, log, metrics, timeoutMs: TIMEOUT_MS }),
    policy: { unknownWaitMs: UNKNOWN_WAIT_MS, underWayMs: UNDER_WAY_MS, backoff: BACKOFF },
  })
  const thank: Thank = () => Promise.reject(new Error('nobody is thanked here'))
  const deliver = delivering({ otps: store.docs('otps'), carry, thank, clock, log })
  return {
    ...{ store, keyring, clock, told, inbox, metrics, candidates, log: captured },
    /** What was told of a delivery, in order. */
    statuses: () => told.map(({ body }) => body.status),
    /** The next `times` publishes find no broker. */
    breakBroker: (times: number) => {
      down = times
    },
    deliver: (doc: OtpDoc, attempt = 1) => deliver(message(doc, attempt)),
    /** Delivers, and lets time pass while a receipt is waited for, but not while the store is. */
    async delivered(doc: OtpDoc, attempt = 1): Promise<Outcome> {
      const delivering = deliver(message(doc, attempt))
      const state = follow(delivering)
      while (state.state === 'pending') await clock.advance(holds() ? 10 : 0)
      return delivering
    },
    /** What the OTP actor would do with all that was told so far. */
    async applyTold(): Promise<void> {
      for (const { id, body } of told) await applyReport(store, id, body)
    },
  }
}

export const takes: Provider['send'] = async () => ({ reference: 'v-1' })

/** For an app with one provider of its own on the channel, `gateway`, which does this; `sent` is what it was handed. */
export async function actorWithProvider(store: CountersignStore, send = takes, more: Partial<Provider> = {}) {
  const sent: Rendered[] = []
  const provider: Provider = {
    send: (message, signal) => {
      sent.push(message)
      return send(message, signal)
    },
    ...more,
  }
  const actor = channelActor(store, { http: () => provider })
  await tenant(actor, GATEWAY)
  return { ...actor, sent }
}

export const GATEWAY = {
  providers: [{ name: 'gateway', channel: 'sms', type: 'http', config: { url: 'https://g.example/' } }],
}

/** Knows whether anything short of a provider's timeout is waited for. */
function watchedClock(): { clock: TestClock; holds(): boolean } {
  const clock = testClock()
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
  return { clock: { ...clock, after }, holds: () => waiting.size > 0 }
}

const message = (doc: OtpDoc, attempt: number): Delivered => {
  const body = deliverBody(doc)
  return { id: body.delivery_id, body, attempt, publishedAt: doc.created_at }
}

async function applyReport(store: CountersignStore, id: string, body: Told['body']): Promise<void> {
  const doc = (await store.docs('otps').get([body.otp_id])).get(body.otp_id)
  if (!doc) return
  const command: OtpCommand = {
    ...{ id, type: 'delivery.reported', at: body.at, reported_id: body.delivery_id, status: body.status },
    ...{ event_id: 'evt_1', usable: [], delivery_id: 'dlv_none', link: { sealed_url: '', reference: '' }, prices: {} },
  }
  await replaced(store, { ...doc, ...step(doc, command).saved })
}

/** Puts the verification in place of what is stored of it. */
export async function replaced(store: CountersignStore, { _id, value, context }: OtpDoc): Promise<void> {
  await store.docs('otps').change([{ _id, update: { $set: { value, context } } }])
}
