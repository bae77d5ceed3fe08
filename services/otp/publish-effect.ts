// Publishes an effect of a verification. In: an effect that is saved. Out: a message in its queue. An event that no endpoint of its app asks for
// is stored here as `unsent` instead, because no other actor has to do anything for it: this saves a message and its handling.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { messageIn, type PublishEffect } from '../domain/verifications/outbox.ts'
import type { OutboxEntry } from '../domain/verifications/queue-messages.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { newEvent, newEventFields } from '../domain/webhooks/new-event.ts'
import type { NotifyBody } from '../domain/webhooks/queue-messages.ts'
import type { CachedApp, IsAskedFor } from './apps.ts'

export interface PublishEffectDeps {
  broker: Pick<Broker, 'publish'>
  /** Batched: the events of one tick are one insert. */
  events: Pick<Docs<EventDoc>, 'insert'>
  isAskedFor: IsAskedFor
  apps: Pick<Cache<CachedApp | null>, 'get'>
}

export function createPublishEffect({ broker, events, isAskedFor, apps }: PublishEffectDeps): PublishEffect {
  /** Answers false where the webhook actor must have the event. */
  async function storeUnsent({ body, trace }: OutboxEntry): Promise<boolean> {
    const event = body as NotifyBody
    try {
      if (await isAskedFor(event.app_id, event.type)) return false
      const app = await apps.get(event.app_id)
      await events.insert([newEvent(newEventFields(event, app?.settings ?? null, trace), 'unsent')])
      return true
    } catch {
      // Settings that cannot be read, or a store that is away: the webhook actor stores the event with the default retention, or as soon as
      // the store is back.
      return false
    }
  }

  return async (effect, publishedAgain) => {
    if (effect.queue === 'webhook.deliver' && (await storeUnsent(effect))) return
    await broker.publish(effect.queue, messageIn(effect, publishedAgain))
  }
}
