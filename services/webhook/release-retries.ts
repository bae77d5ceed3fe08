// Makes the retries of an endpoint's events due. In: the time when it was enabled. Out: each event that was last called before that
// time is in the backlog. Repeatable: a retry that was planned after a later call stays as it is. The reminder of the planned retry may
// still wait in the broker for hours; when it comes, it names an attempt that is no longer the next one.
import type { Docs } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { type EndpointRef, eventsOf } from '../domain/webhooks/endpoint-ids.ts'
import { releaseRetry } from './event-changes.ts'

const PAGE_SIZE = 200

export async function releaseRetries(
  events: Pick<Docs<EventDoc>, 'find' | 'change'>,
  endpoint: EndpointRef,
  enabledAt: number,
): Promise<void> {
  let after = ''
  for (;;) {
    const filter = { ...eventsOf(endpoint), _id: { $gt: after }, next_attempt_at: { $gt: 0 } }
    const page = await events.find(filter, { sort: { _id: 1 }, limit: PAGE_SIZE })
    const waiting = page.filter(event => lastCalledAt(event) < enabledAt)
    // A change that is lost concerns an event that another process has just begun to send.
    await events.change(waiting.map(event => ({ _id: event._id, rev: event.rev, update: releaseRetry(event) })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) return
    after = last._id
  }
}

const lastCalledAt = ({ attempts }: EventDoc): number => attempts.at(-1)?.at ?? 0
