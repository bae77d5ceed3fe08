// Holds the events of a paused endpoint that wait: for a retry, or for a slot. In: the endpoint. Out: they are `held`, like those that come while
// it is paused, and enabling it sends them. Repeatable.
import type { Docs, Filter, Operators, Sort } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { type EndpointRef, eventsOf } from '../domain/webhooks/endpoint-ids.ts'
import { keepWhilePaused, markUnsent } from './event-changes.ts'

type Events = Pick<Docs<EventDoc>, 'find' | 'change'>

const PAGE_SIZE = 200

export const holdEvents = (events: Events, endpoint: EndpointRef): Promise<void> =>
  changeAll(events, { ...eventsOf(endpoint), status: 'pending' }, keepWhilePaused)

/** Nothing is sent to a deleted endpoint: all that waits for it is `unsent`. Repeatable. */
export const giveUpEvents = (events: Events, endpoint: EndpointRef): Promise<void> =>
  changeAll(events, eventsOf(endpoint), markUnsent)

/** Those that wait for a retry, then those in the backlog. */
async function changeAll(
  events: Events,
  filter: Filter<EventDoc>,
  update: (event: EventDoc) => Operators<EventDoc>,
): Promise<void> {
  await changePages(events, { ...filter, next_attempt_at: { $gt: 0 } }, { _id: 1 }, update)
  await changePages(events, { ...filter, backlog_at: { $gt: 0 } }, { backlog_at: 1 }, update)
}

/** Events that are changed no longer match. A change that is lost concerns an event that another process is sending. */
async function changePages(
  events: Events,
  filter: Filter<EventDoc>,
  sort: Sort<EventDoc>,
  update: (event: EventDoc) => Operators<EventDoc>,
): Promise<void> {
  for (;;) {
    const page = await events.find(filter, { sort, limit: PAGE_SIZE })
    const answers = await events.change(page.map(one => ({ _id: one._id, rev: one.rev, update: update(one) })))
    if (!answers.includes('won')) return
  }
}
