// The webhook actor alone, on one engine set, with apps whose endpoints are on loopback. In: the number of apps, and which of them hang.
// Out: functions that publish events and tell when each was answered.
import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { systemClock as clock } from '../../infra/clock.ts'
import { type Config, readConfig } from '../../infra/config/config.ts'
import { createKeyring } from '../../infra/crypto/keyring.ts'
import { newId } from '../../infra/ids.ts'
import { createLog } from '../../infra/log/log.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { createOutbound } from '../../infra/outbound/guarded-outbound.ts'
import type { Outbound } from '../../infra/outbound/outbound.ts'
import { applyBootstrap, readBootstrap } from '../../services/domain/bootstrap/bootstrap.ts'
import type { NotifyBody } from '../../services/domain/webhooks/queue-messages.ts'
import { openEngines } from '../../services/main.ts'
import { createWebhookService } from '../../services/webhook/service.ts'
import { eventually } from '../support/eventually.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { type EngineSet, freshSite } from '../support/site.ts'

interface Actor {
  /** Publishes an event of the nth app. */
  publishEvent(app: number): Promise<void>
  /** Starts to consume the queue. */
  attach(): Promise<void>
  /** Resolves when this number of events was answered since the start. */
  answered(count: number): Promise<void>
  /** Milliseconds from each answered event to its answer. */
  latencies(app: number): number[]
  close(): Promise<void>
}

export const SECRET = 'whsec_c2VjcmV0IG9mIGEgYmVuY2gsIGxvbmcgZW5vdWdo'

export const benchOutbound = (): Outbound => createOutbound({ privateTargets: ['127.0.0.0/8'] })

export async function startWebhookActor(engines: EngineSet, urls: readonly string[]): Promise<Actor> {
  const site = await freshSite(engines)
  const config: Config = readConfig(site.env, [])
  const log = createLog({ level: 'silent' })
  const { broker, store } = await openEngines(config, clock, log, { prefix: site.prefix })
  await waitUntilUp(broker)
  await eventually(() => store.ping())
  const keyring = createKeyring({
    dataKeys: [{ id: 'd', key: Buffer.alloc(32, 1) }],
    codeSecrets: [{ id: 'c', key: Buffer.alloc(32, 2) }],
  })
  const apps = urls.map((url, n) => ({ id: `app_${n}`, name: 'Bench', webhook: { url, secret: SECRET } }))
  const companies = [{ id: 'cmp_bench', name: 'Bench', apps }]
  await applyBootstrap(readBootstrap(JSON.stringify({ companies })), { store, keyring, clock })

  const startedCalls = new Map<string, { app: number; at: number }>()
  const took = urls.map((): number[] => [])
  let count = 0
  const plain = benchOutbound()
  const outbound: Outbound = {
    ...plain,
    async request(request) {
      const answer = await plain.request(request)
      const event = startedCalls.get(request.headers['webhook-id'] ?? '')
      if (event) took[event.app]?.push(performance.now() - event.at)
      count += 1
      return answer
    },
  }
  const service = createWebhookService({
    config,
    broker,
    store,
    keyring,
    outbound,
    clock,
    log,
    metrics: createMetrics(),
  })
  let attached: Awaited<ReturnType<NonNullable<typeof service.attach>>> = []

  return {
    async publishEvent(app) {
      const at = clock.now()
      const event_id = newId('evt', at)
      const body: NotifyBody = {
        event_id,
        app_id: `app_${app}`,
        company_id: 'cmp_bench',
        mode: 'live',
        type: 'otp.approved',
        at,
        payload: { otp_id: `otp_${randomUUID()}`, status: 'approved' },
      }
      startedCalls.set(event_id, { app, at: performance.now() })
      await broker.publish('webhook.deliver', { id: event_id, body })
    },
    async attach() {
      attached = (await service.attach?.()) ?? []
    },
    async answered(wanted) {
      while (count < wanted) await new Promise(resolve => setTimeout(resolve, 2))
    },
    latencies: app => took[app] ?? [],
    async close() {
      await Promise.all(attached.map(consumer => consumer.stop(500)))
      await service.stop?.()
      await outbound.close()
      await broker.close(0)
      await store.close()
      await site.wipe()
    },
  }
}
