// What keeps the messages and events of an app from leaving now. In: queues, breakers, the webhook endpoints and the newest verifications.
// Out: causes that concern this app. Users of a company may read it, so it has no figures of a queue, which carries the messages of all
// companies.
import { readDepth } from '../../../infra/broker/depth.ts'
import { createCache } from '../../../infra/cache.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import { CHANNELS, type Channel } from '../../../machines/channels.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import { mayBeUsed } from '../../../machines/routing.ts'
import { findBreakers } from '../../domain/breakers/documents.ts'
import { findKnownProviders, scopeOf } from '../../domain/tenancy/documents.ts'
import { findEndpoints } from '../../domain/webhooks/documents.ts'
import { endpointId } from '../../domain/webhooks/endpoint-ids.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { breakerView } from '../providers/breaker-view.ts'
import { readNewestOtps } from '../verifications/search.ts'
import { appHealth, type HealthCause } from './schemas.ts'

/** Every open Overview asks, and each look at a queue opens a channel to RabbitMQ. */
const DEPTH_TTL_MS = 2_000
/** How many of the app's newest verifications, and messages with codes of others, are looked at for messages that wait. */
const NEWEST_VERIFICATIONS = 200

type WaitedFor = 'otp.calls' | 'webhook.deliver' | `channel.${Channel}`

function createReadCauses({ store, broker, clock }: Pick<AdminDeps, 'store' | 'broker' | 'clock'>) {
  const depths = createCache(queue => readDepth(broker, queue as WaitedFor, clock), {
    ttlMs: DEPTH_TTL_MS,
    maxSize: 10,
    clock,
  })
  const depthOf = (queue: WaitedFor) => depths.get(queue)

  /** Messages wait in it, and no process takes them. */
  async function isStopped(queue: WaitedFor): Promise<boolean> {
    const { consumers, ready } = await depthOf(queue)
    return consumers === 0 && ready > 0
  }

  async function stoppedChannels(app_id: string): Promise<HealthCause[]> {
    const stopped = await filterAsync(CHANNELS, channel => isStopped(`channel.${channel}`))
    if (stopped.length === 0) return []
    const waiting = await channelsWaitedFor(app_id)
    return stopped
      .filter(channel => waiting.has(channel))
      .map((channel): HealthCause => ({ ...NOTHING, cause: 'channel_stopped', channel }))
  }

  async function channelsWaitedFor(app_id: string): Promise<Set<Channel>> {
    const query = { docs: store.docs('otps'), filters: [{ app_id }], range: {}, wanted: NEWEST_VERIFICATIONS }
    const channels = new Set<Channel>()
    let read = 0
    for await (const { context } of readNewestOtps(query)) {
      for (const { status, channel } of context.deliveries) if (status === 'queued') channels.add(channel)
      read += 1
      if (read === NEWEST_VERIFICATIONS) break
    }
    return channels
  }

  async function openProviders(app_id: string): Promise<HealthCause[]> {
    const [providers, breakers] = await Promise.all([
      findKnownProviders(store, app_id),
      findBreakers(store, app_id, clock.now()),
    ])
    return providers.flatMap(provider => {
      if (provider.paused) return []
      const breaker = breakerView(breakers, provider)
      if (breaker === null || breaker.state === 'closed') return []
      const { name, channel } = provider
      const cause = breaker.state === 'open' ? 'provider_open' : 'provider_half_open'
      return [{ ...NOTHING, cause, provider: name, channel, since: breaker.since }]
    })
  }

  async function silentProviders(app_id: string): Promise<HealthCause[]> {
    const [providers, stored] = await Promise.all([
      findKnownProviders(store, app_id),
      store.docs('route_facts').get([app_id]),
    ])
    const silent = (stored.get(app_id)?.facts ?? []).filter(({ silence }) => silence.since !== null)
    return providers.flatMap(provider => {
      const { name, channel } = provider
      const own = silent.filter(
        fact => fact.provider === name && fact.channel === channel && mayBeUsed(scopeOf(provider), fact.country),
      )
      if (own.length === 0) return []
      const countries = [...new Set(own.flatMap(({ country }) => country ?? []))]
      const since = Math.min(...own.map(({ silence }) => silence.since ?? Infinity))
      return [{ ...NOTHING, cause: 'provider_silent', provider: name, channel, countries, since: isoTime(since) }]
    })
  }

  async function webhookCauses(app_id: string): Promise<HealthCause[]> {
    const endpoints = await findEndpoints(store.docs('webhooks'), app_id)
    const causes = endpoints
      .filter(({ status }) => status === 'paused')
      .map((endpoint): HealthCause => {
        const { _id, name = null, url } = endpoint
        const { paused } = endpointLife(endpoint).context
        return {
          ...NOTHING,
          cause: 'endpoint_paused',
          endpoint: { id: endpointId(_id), name, url },
          reason: paused?.reason ?? null,
          since: isoTimeOrNull(paused?.at ?? null),
        }
      })
    const isCalled = endpoints.length > causes.length
    return isCalled && (await isStopped('webhook.deliver'))
      ? [...causes, { ...NOTHING, cause: 'webhooks_stopped' }]
      : causes
  }

  return async (app_id: string): Promise<HealthCause[]> => {
    const [{ consumers }, ...others] = await Promise.all([
      depthOf('otp.calls'),
      stoppedChannels(app_id),
      openProviders(app_id),
      silentProviders(app_id),
      webhookCauses(app_id),
    ])
    // A call that no process takes is forgotten soon, so none need wait.
    const calls: HealthCause[] = consumers === 0 ? [{ ...NOTHING, cause: 'verifications_stopped' }] : []
    return [...calls, ...others.flat()]
  }
}

const NOTHING = { channel: null, provider: null, reason: null, since: null }

export const healthOperations = [
  operation({
    id: 'getAppHealth',
    request: 'GET /apps/{id}/health',
    role: 'viewer',
    summary: 'Ask why messages do not leave',
    description: 'What keeps the messages and events of the app from leaving now.',
    answers: [
      ok(appHealth, 'The causes.', {
        causes: [
          { ...NOTHING, cause: 'channel_stopped', channel: 'sms' },
          {
            cause: 'provider_open',
            channel: 'sms',
            provider: 'main-sms',
            reason: null,
            since: '2030-01-01T12:00:00.000Z',
          },
        ],
      }),
    ],
    keep: createReadCauses,
    handle: async ({ app }, _, readCauses) => ({ causes: await readCauses(app._id) }),
  }),
]

async function filterAsync<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T[]> {
  const passed = await Promise.all(items.map(test))
  return items.filter((_, at) => passed[at])
}
