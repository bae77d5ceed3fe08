// Holds the events of a paused endpoint that wait: for a retry, or for a slot. In: its app. Out: they are `held`, like those that come while
// it is paused, and enabling it sends them. Repeatable.
import type { Docs, Filter, Sort } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { keepWhilePaused } from './event-changes.ts'

type Events = Pick<Docs<EventDoc>, 'find' | 'change'>

const PAGE_SIZE = 200

export async function holdEvents(events: Events, app_id: string): Promise<void> {
  const waiting = { app_id, status: 'pending' } as const
  await holdAll(events, { ...waiting, next_attempt_at: { $gt: 0 } }, { _id: 1 })
  await holdAll(events, { ...waiting, backlog_at: { $gt: 0 } }, { backlog_at: 1 })
}

/** Events that are held no longer match. A change that is lost concerns an event that another process is sending. */
async function holdAll(events: Events, filter: Filter<EventDoc>, sort: Sort<EventDoc>): Promise<void> {
  for (;;) {
    const page = await events.find(filter, { sort, limit: PAGE_SIZE })
    const answers = await events.change(page.map(one => ({ _id: one._id, rev: one.rev, update: keepWhilePaused(one) })))
    if (!answers.includes('won')) return
  }
}
