// Endpoints of apps. In: an app, and outcomes of calls. Out: its endpoints, cached for a few seconds, and the new state of a machine.
// Outcomes of one endpoint that arrive together are one write.
import { createKeyedBatcher } from '../../infra/batcher.ts'
import { createBoundedMap } from '../../infra/bounded-map.ts'
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../infra/store/lost-race.ts'
import { changeOne, getOne } from '../../infra/store/one-doc.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { endpointLife, stepEndpoint } from '../../machines/endpoint.step.ts'
import type { EndpointEffect, EndpointEvent, SavedEndpoint } from '../../machines/endpoint.ts'
import { TENANT_CACHE, type Tenancy, type TenantWebhook } from '../domain/tenancy/tenancy.ts'
import type { WebhookEndpoint } from '../domain/webhooks/documents.ts'
import { type EndpointRef, endpointId, refOf, storedEndpointId } from '../domain/webhooks/endpoint-ids.ts'

export interface Endpoint extends TenantWebhook {
  life: SavedEndpoint
  /** Whether its calls can be signed, and its company is open. If not, a data key may be missing, or the company be
   *  closed, for a while: events then wait as if all slots were taken. */
  sendable: boolean
}

export interface Endpoints {
  /** From the cache, the oldest first. */
  all(app_id: string): Promise<readonly Endpoint[]>
  /** From the cache; null when there is none, or none any more. */
  get(endpoint: EndpointRef): Promise<Endpoint | null>
  /** From the store. */
  reload(endpoint: EndpointRef): Promise<Endpoint | null>
  /** Answers whether the endpoint is paused now. */
  recordOutcome(endpoint: EndpointRef, fact: EndpointEvent): Promise<boolean>
}

export interface EndpointDeps {
  webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'change'>
  tenancy: Pick<Tenancy, 'webhooks' | 'isCompanyClosed'>
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
  async function load(app_id: string): Promise<Endpoint[]> {
    try {
      const [webhooks, isClosed] = await Promise.all([tenancy.webhooks(app_id), tenancy.isCompanyClosed(app_id)])
      return webhooks.map(webhook => read(webhook, isClosed))
    } catch (error) {
      if (error instanceof Unavailable) throw error
      logUnreadable({ app_id }, error)
      return [unreadable({ _id: app_id, app_id, url: '', status: 'active', secrets: [] })]
    }
  }

  /** An endpoint that cannot be read does not affect the others of its app. */
  function read(webhook: TenantWebhook, isClosed: boolean): Endpoint {
    try {
      const opens = webhook.secrets.some(({ state }) => state === 'current')
      if (!opens) logUnreadable(refOf(webhook), new Error('its current secret does not open'))
      return { ...webhook, life: endpointLife(webhook), sendable: opens && !isClosed }
    } catch (error) {
      logUnreadable(refOf(webhook), error)
      return unreadable(webhook)
    }
  }

  const unreadable = (webhook: TenantWebhook): Endpoint => ({
    ...webhook,
    life: endpointLife({ status: 'active' }),
    sendable: false,
  })

  const loggedAt = createBoundedMap<number>(MAX_LOGGED_ENDPOINTS)

  /** An operator has to act: receivers refuse calls that the current secret did not sign. */
  function logUnreadable(endpoint: EndpointRef, error: unknown): void {
    const id = storedEndpointId(endpoint)
    if (clock.now() < (loggedAt.get(id) ?? 0) + LOG_UNREADABLE_EVERY_MS) return
    loggedAt.set(id, clock.now())
    log.error({ err: error, ...endpointFields(endpoint) }, 'endpoint.unreadable')
  }

  const cache = createCache(load, { ...TENANT_CACHE, clock })

  const get = async (endpoint: EndpointRef): Promise<Endpoint | null> => {
    const id = storedEndpointId(endpoint)
    return (await cache.get(endpoint.app_id)).find(({ _id }) => _id === id) ?? null
  }

  interface AttemptOutcome {
    endpoint: EndpointRef
    fact: EndpointEvent
  }

  async function recordAll(outcomes: AttemptOutcome[]): Promise<boolean[]> {
    const facts = outcomes.map(({ fact }) => fact)
    const paused = await applyFacts((outcomes[0] as AttemptOutcome).endpoint, facts)
    return outcomes.map(() => paused)
  }

  const applyFacts = (ref: EndpointRef, facts: EndpointEvent[]): Promise<boolean> =>
    retryAfterLostRace('an endpoint', async () => {
      const _id = storedEndpointId(ref)
      const endpoint = await getOne(webhooks, _id)
      if (!endpoint || endpoint.deleted_at !== undefined) return false
      const { status, life, effects, changed } = stepEndpoint(endpoint, facts)
      if (!changed) return status === 'paused'
      // The sweeper asks for the events that wait to be held.
      const mark = effects.some(({ type }) => type === 'paused') ? { drain_at: clock.now() } : {}
      const update = { $set: { status, life, ...mark } }
      if (!(await changeOne(webhooks, { _id, rev: endpoint.rev, update }))) return LOST
      cache.invalidate(ref.app_id)
      for (const effect of effects) logEffect(ref, effect, life)
      return status === 'paused'
    })

  function logEffect(endpoint: EndpointRef, effect: EndpointEffect, { context }: SavedEndpoint): void {
    const fields = endpointFields(endpoint)
    if (effect.type === 'recovered') log.info(fields, 'endpoint.recovered')
    if (effect.type !== 'paused') return
    const { reason } = effect
    metrics.webhookPauses.inc({ reason })
    log.warn({ ...fields, reason, failures: context.failures }, 'endpoint.paused')
  }

  /** Cached endpoints whose machine another success does not change. */
  const healthy = new WeakSet<Endpoint>()
  const recordBatched = createKeyedBatcher<AttemptOutcome, boolean>(
    ({ endpoint }) => storedEndpointId(endpoint),
    recordAll,
    BATCHING,
  )

  return {
    all: cache.get,
    get,
    reload(endpoint) {
      cache.invalidate(endpoint.app_id)
      return get(endpoint)
    },
    async recordOutcome(endpoint, fact) {
      // Most successes change nothing, and then neither the store nor the machine is asked.
      const known = fact.type === 'attempt.succeeded' ? await get(endpoint) : null
      if (known && !healthy.has(known) && !stepEndpoint(known, [fact]).changed) healthy.add(known)
      if (known && healthy.has(known)) return isPaused(known)
      return recordBatched({ endpoint, fact })
    },
  }
}

/** What a log line says of an endpoint. */
export const endpointFields = (endpoint: EndpointRef) => ({
  app_id: endpoint.app_id,
  endpoint_id: endpointId(storedEndpointId(endpoint)),
})
