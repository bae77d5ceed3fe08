// Stores an event that no endpoint of its app asks for as `unsent`, because no other actor has to do anything for it:
// this saves a message and its handling. In: an event that is to be published. Out: false where the webhook actor must
// have it.
import type { Cache } from '../../infra/cache.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { OutboxEntry } from '../domain/verifications/queue-messages.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { newEvent, newEventFields } from '../domain/webhooks/new-event.ts'
import type { NotifyBody } from '../domain/webhooks/queue-messages.ts'
import type { CachedApp, IsAskedFor } from './apps.ts'

export interface UnsentEventDeps {
  /** Batched: the events of one tick are one insert. */
  events: Pick<Docs<EventDoc>, 'insert'>
  isAskedFor: IsAskedFor
  apps: Pick<Cache<CachedApp | null>, 'get'>
}

export async function storeUnsent(
  { events, isAskedFor, apps }: UnsentEventDeps,
  { body, trace }: Pick<OutboxEntry, 'body' | 'trace'>,
): Promise<boolean> {
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
