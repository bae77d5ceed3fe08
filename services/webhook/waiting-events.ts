// Changes all events of an endpoint that wait: for a retry, or for a slot. In: the endpoint, which was paused, enabled
// or deleted. Out: their documents. Every change is repeatable. One that is lost concerns an event that another process
// is sending.
import type { Docs, Filter, Operators, Sort } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { type EndpointRef, eventFilterOf } from '../domain/webhooks/endpoint-ids.ts'
import { keepWhilePaused, markUnsent, releaseRetry } from './event-changes.ts'

type Events = Pick<Docs<EventDoc>, 'find' | 'change'>

const PAGE_SIZE = 200

/** The endpoint is paused: its events are `held`, like those that come while it is paused, and enabling it sends them. */
export const holdEvents = (events: Events, endpoint: EndpointRef): Promise<void> =>
  changeAll(events, { ...eventFilterOf(endpoint), status: 'pending' }, keepWhilePaused)

/** Nothing is sent to a deleted endpoint: all that waits for it is `unsent`. */
export const giveUpEvents = (events: Events, endpoint: EndpointRef): Promise<void> =>
  changeAll(events, eventFilterOf(endpoint), markUnsent)

/** The endpoint was enabled: each event that was last called before that time goes to the backlog. A retry that was planned after a later
 *  call stays as it is. The reminder of the planned retry may still wait in the broker for hours; when it comes, it names an attempt that
 *  is no longer the next one. */
export async function releaseRetries(events: Events, endpoint: EndpointRef, enabledAt: number): Promise<void> {
  let after = ''
  for (;;) {
    const filter = { ...eventFilterOf(endpoint), _id: { $gt: after }, next_attempt_at: { $gt: 0 } }
    const page = await events.find(filter, { sort: { _id: 1 }, limit: PAGE_SIZE })
    const waiting = page.filter(event => lastCalledAt(event) < enabledAt)
    await events.change(waiting.map(event => ({ _id: event._id, rev: event.rev, update: releaseRetry(event) })))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) return
    after = last._id
  }
}

const lastCalledAt = ({ attempts }: EventDoc): number => attempts.at(-1)?.at ?? 0

/** Those that wait for a retry, then those in the backlog. */
async function changeAll(
  events: Events,
  filter: Filter<EventDoc>,
  update: (event: EventDoc) => Operators<EventDoc>,
): Promise<void> {
  await changePages(events, { ...filter, next_attempt_at: { $gt: 0 } }, { _id: 1 }, update)
  await changePages(events, { ...filter, backlog_at: { $gt: 0 } }, { backlog_at: 1 }, update)
}

/** Events that are changed no longer match. */
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
