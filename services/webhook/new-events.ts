// New events. In: messages from the outbox. Out: every event stored, all of a batch in one insert. Where its endpoint has a free slot, an
// event is inserted with its first attempt started, and the endpoint is called in the background. A message that comes twice is stored
// once. An event that cannot be stored does not affect the others of its batch.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { MIN_EVENT_RETENTION_MS } from '../domain/retention.ts'
import { TENANT_CACHE, type Tenancy } from '../domain/tenancy/tenancy.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { type NotifyBody, newEventFields } from '../domain/webhooks/messages.ts'
import { newEvent, purgeNotBefore } from '../domain/webhooks/new-event.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import type { Backlogs } from './backlogs.ts'
import { type Endpoint, type Endpoints, isPaused } from './endpoints.ts'
import type { Attempts } from './event-attempts.ts'
import { assumedLostAt } from './event-changes.ts'
import type { Slots } from './slots.ts'

/** A new event as its message brings it. */
export interface Notification {
  body: NotifyBody
  trace?: Trace | undefined
}

/** Answers a promise per event, which resolves when the event is stored. */
export type AcceptEvents = (notifications: readonly Notification[]) => Promise<void>[]

export interface NewEventDeps {
  events: Pick<Docs<EventDoc>, 'insert'>
  tenancy: Pick<Tenancy, 'app'>
  endpoints: Pick<Endpoints, 'get'>
  attempts: Pick<Attempts, 'takeSlot' | 'startCall'>
  backlogs: Pick<Backlogs, 'mark' | 'drain'>
  retrySchedule: RetrySchedule
  clock: Clock
  log: Logger
}

/** An event about to be inserted. With a slot for its call, it is inserted as started. */
interface PreparedEvent {
  event: EventDoc
  call: { endpoint: Endpoint; slot: Slots } | null
}

export function createAcceptEvents(deps: NewEventDeps): AcceptEvents {
  const { events, tenancy, endpoints, attempts, backlogs, retrySchedule, clock, log } = deps
  const settings = createCache(readSettings, { ...TENANT_CACHE, clock })

  async function readSettings(app_id: string): Promise<AppSettings | null> {
    try {
      return (await tenancy.app(app_id))?.settings ?? null
    } catch (error) {
      if (error instanceof Unavailable) throw error
      log.error({ err: error, app_id }, 'app.unreadable')
      return null
    }
  }

  async function prepare({ body, trace }: Notification): Promise<PreparedEvent> {
    const { app_id } = body
    const fields = newEventFields(body, await settings.get(app_id), trace)
    const endpoint = await endpoints.get(app_id)
    if (!endpoint) return { event: newEvent(fields, 'unsent'), call: null }
    const now = clock.now()
    const fieldsToSend = {
      ...fields,
      purge_at: purgeNotBefore(fields, now + MIN_EVENT_RETENTION_MS + retrySchedule.longestMs),
    }
    if (isPaused(endpoint)) return { event: withBacklog(newEvent(fieldsToSend, 'held'), 'kept'), call: null }
    const slot = attempts.takeSlot(endpoint, fields)
    if (slot === null) {
      await backlogs.mark(app_id)
      return { event: withBacklog(newEvent(fieldsToSend, 'pending'), 'overflow'), call: null }
    }
    const started = { tries: 1, attempt_started_at: now, due_at: assumedLostAt(now) }
    return { event: { ...newEvent(fieldsToSend, 'pending'), ...started }, call: { endpoint, slot } }
  }

  async function insert(prepared: readonly PreparedEvent[]): Promise<('inserted' | 'duplicate')[]> {
    try {
      return await events.insert(prepared.map(({ event }) => event))
    } catch (error) {
      for (const { event, call } of prepared) call?.slot.release(event)
      throw error
    }
  }

  /** An event that was stored before is taken care of by the process that inserted it, or by the sweeper. */
  function callOrDrain({ event, call }: PreparedEvent, isNew: boolean): void {
    if (call && isNew) attempts.startCall(event, call.endpoint, call.slot)
    else if (call) call.slot.release(event)
    else if (isNew && event.backlog === 'overflow') backlogs.drain(event.app_id)
  }

  /** Inserts the events that could be prepared. */
  async function insertPrepared(preparing: readonly Promise<PreparedEvent>[]): Promise<void> {
    const all = await Promise.allSettled(preparing)
    const prepared = all.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    if (prepared.length === 0) return
    const answers = await insert(prepared)
    for (const [at, one] of prepared.entries()) callOrDrain(one, answers[at] === 'inserted')
  }

  return notifications => {
    const preparing = notifications.map(prepare)
    const inserting = insertPrepared(preparing)
    return preparing.map(one => one.then(() => inserting))
  }
}

const withBacklog = (event: EventDoc, backlog: 'kept' | 'overflow'): EventDoc => ({
  ...event,
  backlog,
  backlog_at: event.created_at,
})
