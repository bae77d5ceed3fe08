// Endpoints of apps. In: an app, and outcomes of calls. Out: its endpoint, cached for a few seconds, and the new state of its machine.
// Outcomes that arrive together are one write.
import { createKeyedBatcher } from '../../infra/batcher.ts'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../infra/store/lost-race.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { endpointLife, stepEndpoint } from '../../machines/endpoint.step.ts'
import type { EndpointEffect, EndpointEvent, SavedEndpoint } from '../../machines/endpoint.ts'
import { TENANT_CACHE, type Tenancy, type TenantWebhook } from '../domain/tenancy/tenancy.ts'
import type { WebhookEndpoint } from '../domain/webhooks/documents.ts'

export interface Endpoint extends TenantWebhook {
  life: SavedEndpoint
  /** Whether its calls can be signed, and its company is open. If not, a data key may be missing, or the company be closed, for a while:
   *  events then wait as if all slots were taken. */
  sendable: boolean
}

export interface Endpoints {
  /** From the cache; null when the app has no endpoint. */
  get(app_id: string): Promise<Endpoint | null>
  /** From the store. */
  reload(app_id: string): Promise<Endpoint | null>
  /** Answers whether the endpoint is paused now. */
  recordOutcome(app_id: string, fact: EndpointEvent): Promise<boolean>
}

export interface EndpointDeps {
  webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'change'>
  tenancy: Pick<Tenancy, 'webhook' | 'isCompanyClosed'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'webhookPauses'>
}

const BATCHING = { maxSize: 500, parallel: 1 }
/** At most one log line per endpoint and this time. */
const LOG_UNREADABLE_EVERY_MS = 60_000
const MAX_LOGGED_ENDPOINTS = 10_000

export const isPaused = ({ life }: Pick<Endpoint, 'life'>): boolean => life.value === 'paused'

export const isCallable = (endpoint: Pick<Endpoint, 'life' | 'sendable'>): boolean =>
  endpoint.sendable && !isPaused(endpoint)

export function createEndpoints({ webhooks, tenancy, clock, log, metrics }: EndpointDeps): Endpoints {
  async function load(app_id: string): Promise<Endpoint | null> {
    try {
      const [webhook, isClosed] = await Promise.all([tenancy.webhook(app_id), tenancy.isCompanyClosed(app_id)])
      if (webhook === null) return null
      const opens = webhook.secrets.some(({ state }) => state === 'current')
      if (!opens) logUnreadable(app_id, new Error('its current secret does not open'))
      return { ...webhook, life: endpointLife(webhook), sendable: opens && !isClosed }
    } catch (error) {
      if (error instanceof Unavailable) throw error
      logUnreadable(app_id, error)
      return {
        app_id,
        url: '',
        status: 'active',
        secrets: [],
        life: endpointLife({ status: 'active' }),
        sendable: false,
      }
    }
  }

  const loggedAt = createBoundedMap<number>(MAX_LOGGED_ENDPOINTS)

  /** An operator has to act: receivers refuse calls that the current secret did not sign. */
  function logUnreadable(app_id: string, error: unknown): void {
    if (clock.now() < (loggedAt.get(app_id) ?? 0) + LOG_UNREADABLE_EVERY_MS) return
    loggedAt.set(app_id, clock.now())
    log.error({ err: error, app_id }, 'endpoint.unreadable')
  }

  const cache = createCache(load, { ...TENANT_CACHE, clock })

  interface AttemptOutcome {
    app_id: string
    fact: EndpointEvent
  }

  async function recordAll(outcomes: AttemptOutcome[]): Promise<boolean[]> {
    const [{ app_id } = { app_id: '' }] = outcomes
    const paused = await applyFacts(
      app_id,
      outcomes.map(({ fact }) => fact),
    )
    return outcomes.map(() => paused)
  }

  const applyFacts = (app_id: string, facts: EndpointEvent[]): Promise<boolean> =>
    retryAfterLostRace('an endpoint', async () => {
      const endpoint = (await webhooks.get([app_id])).get(app_id)
      if (!endpoint) return false
      const { status, life, effects, changed } = stepEndpoint(endpoint, facts)
      if (!changed) return status === 'paused'
      // The sweeper asks for the events that wait to be held.
      const mark = effects.some(({ type }) => type === 'paused') ? { drain_at: clock.now() } : {}
      const update = { $set: { status, life, ...mark } }
      const [answer] = await webhooks.change([{ _id: app_id, rev: endpoint.rev, update }])
      if (answer === 'lost') return LOST
      cache.invalidate(app_id)
      for (const effect of effects) logEffect(app_id, effect, life)
      return status === 'paused'
    })

  function logEffect(app_id: string, effect: EndpointEffect, { context }: SavedEndpoint): void {
    if (effect.type === 'recovered') log.info({ app_id }, 'endpoint.recovered')
    if (effect.type !== 'paused') return
    const { reason } = effect
    metrics.webhookPauses.inc({ reason })
    log.warn({ app_id, reason, failures: context.failures }, 'endpoint.paused')
  }

  /** Cached endpoints whose machine another success does not change. */
  const healthy = new WeakSet<Endpoint>()
  const recordBatched = createKeyedBatcher<AttemptOutcome, boolean>(({ app_id }) => app_id, recordAll, BATCHING)

  return {
    get: cache.get,
    reload(app_id) {
      cache.invalidate(app_id)
      return cache.get(app_id)
    },
    async recordOutcome(app_id, fact) {
      // Most successes change nothing, and then neither the store nor the machine is asked.
      const known = fact.type === 'attempt.succeeded' ? await cache.get(app_id) : null
      if (known && !healthy.has(known) && !stepEndpoint(known, [fact]).changed) healthy.add(known)
      if (known && healthy.has(known)) return isPaused(known)
      return recordBatched({ app_id, fact })
    },
  }
}
