// Publishes an effect of a verification. In: an effect that is saved. Out: a message in its queue. An event of an app without an endpoint
// is stored here as `unsent` instead, because no other actor has to do anything for it: this saves a message and its handling.
import type { Broker } from '../../../infra/broker/broker.ts'
import { type Cache, createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { TENANT_CACHE } from '../../domain/tenancy/tenancy.ts'
import type { OutboxEntry } from '../../domain/verifications/messages.ts'
import { messageIn, type PublishEffect } from '../../domain/verifications/outbox.ts'
import type { EventDoc, WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { type NotifyBody, newEventFields } from '../../domain/webhooks/messages.ts'
import { newEvent } from '../../domain/webhooks/new-event.ts'
import type { CachedApp } from '../apps.ts'

export interface PublishEffectDeps {
  broker: Pick<Broker, 'publish'>
  /** Batched: the events of one tick are one insert. */
  events: Pick<Docs<EventDoc>, 'insert'>
  webhooks: Pick<Docs<WebhookEndpoint>, 'get'>
  apps: Pick<Cache<CachedApp | null>, 'get'>
  clock: Clock
}

export function createPublishEffect({ broker, events, webhooks, apps, clock }: PublishEffectDeps): PublishEffect {
  const hasEndpoint = createCache(async (app_id: string) => (await webhooks.get([app_id])).has(app_id), {
    ...TENANT_CACHE,
    clock,
  })

  /** Answers false where the webhook actor must have the event. */
  async function storeUnsent({ body, trace }: OutboxEntry): Promise<boolean> {
    const event = body as NotifyBody
    try {
      if (await hasEndpoint.get(event.app_id)) return false
      const app = await apps.get(event.app_id)
      await events.insert([newEvent(newEventFields(event, app?.settings ?? null, trace), 'unsent')])
      return true
    } catch {
      // Settings that cannot be read, or a store that is away: the webhook actor stores the event with the default retention, or as soon as
      // the store is back.
      return false
    }
  }

  return async effect => {
    if (effect.queue === 'webhook.deliver' && (await storeUnsent(effect))) return
    await broker.publish(effect.queue, messageIn(effect))
  }
}
