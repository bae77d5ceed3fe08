// Publishes the effects of verifications. In: effects, as messages for their queues. Out: published messages; an event of an app without an
// endpoint is stored here as `unsent`, because no other actor has to do anything for it. Its outbox entry is removed, or its report is
// settled, only after that. So after a crash in between it is published again, and the webhook actor, or the store, has it already.
// A store that can writes such an event with the change that caused it (commit.ts); it is then not published at all.
import type { Broker, Message } from '../../infra/broker/broker.ts'
import { type Cache, createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { EventDoc, WebhookEndpoint } from '../domain/webhooks/documents.ts'
import { type NotifyBody, newEventFields } from '../domain/webhooks/messages.ts'
import { newEvent } from '../domain/webhooks/new-event.ts'
import type { CachedApp } from './apps.ts'

export interface EffectPublisherDeps {
  broker: Pick<Broker, 'publish'>
  /** Batched: the events of one tick are one insert. */
  events: Pick<Docs<EventDoc>, 'insert'>
  webhooks: Pick<Docs<WebhookEndpoint>, 'get'>
  apps: Pick<Cache<CachedApp | null>, 'get'>
  clock: Clock
}

/** As long as the webhook actor knows endpoints. */
const ENDPOINT_CACHE = { ttlMs: 5_000, maxSize: 10_000 }

export interface EffectPublisher extends Pick<Broker, 'publish'> {
  /** The event of an app without an endpoint, as it is stored; null where the webhook actor must have it. */
  unsentEvent: UnsentEvent
}

export type UnsentEvent = (event: Pick<Message, 'body' | 'trace'>) => Promise<EventDoc | null>

export function createEffectPublisher(deps: EffectPublisherDeps): EffectPublisher {
  const { broker, events, webhooks, apps, clock } = deps
  const hasEndpoint = createCache(async (app_id: string) => (await webhooks.get([app_id])).has(app_id), {
    ...ENDPOINT_CACHE,
    clock,
  })

  const unsentEvent: UnsentEvent = async message => {
    const body = message.body as NotifyBody
    try {
      if (await hasEndpoint.get(body.app_id)) return null
      const app = await apps.get(body.app_id)
      return newEvent(newEventFields(body, app?.settings ?? null, message.trace), 'unsent')
    } catch {
      // Settings that cannot be read, or a store that is away: the webhook actor tries again until it can be stored.
      return null
    }
  }

  const isStored = (event: EventDoc): Promise<boolean> =>
    events.insert([event]).then(
      () => true,
      () => false,
    )

  async function publishEvent(message: Message): Promise<void> {
    const event = await unsentEvent(message)
    if (event === null || !(await isStored(event))) await broker.publish('webhook.deliver', message)
  }

  return {
    unsentEvent,
    publish: (queue, message) => (queue === 'webhook.deliver' ? publishEvent(message) : broker.publish(queue, message)),
  }
}
