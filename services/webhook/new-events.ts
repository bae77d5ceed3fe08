// New events. In: messages from the outbox. Out: every event stored, once for each endpoint that asks for it, all of a batch in one insert.
// Where its endpoint has a free slot, an event is inserted with its first attempt started, and the endpoint is called in the background. A
// message that comes twice is stored once. An event that cannot be stored does not affect the others of its batch.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { isId, ulidTime } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Trace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { MIN_EVENT_RETENTION_MS } from '../domain/retention.ts'
import { TENANT_CACHE, type Tenancy } from '../domain/tenancy/tenancy.ts'
import type { JoinedIdDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { otpOfEvent } from '../domain/verifications/joined-ids.ts'
import { asksFor, type EventDoc } from '../domain/webhooks/documents.ts'
import { refOf } from '../domain/webhooks/endpoint-ids.ts'
import { fullFields } from '../domain/webhooks/full-payload.ts'
import { type NewEventFields, newEvent, newEventFields, purgeNotBefore } from '../domain/webhooks/new-event.ts'
import type { NotifyBody } from '../domain/webhooks/queue-messages.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import type { Backlogs } from './backlogs.ts'
import { type Endpoint, type Endpoints, isPaused } from './endpoints.ts'
import type { EventAttempts } from './event-attempts.ts'
import { attemptTimes, inBacklog } from './event-changes.ts'
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
  otps: Pick<Docs<OtpDoc>, 'get'>
  joinedIds: Pick<Docs<JoinedIdDoc>, 'get'>
  endpoints: Pick<Endpoints, 'all'>
  attempts: Pick<EventAttempts, 'takeSlot' | 'startCall'>
  backlogs: Pick<Backlogs, 'mark' | 'drain'>
  retrySchedule: RetrySchedule
  clock: Clock
  log: Logger
}

/** An event about to be inserted for one endpoint. With a slot for its call, it is inserted as started. */
interface PreparedEvent {
  event: EventDoc
  call: { endpoint: Endpoint; slot: Slots } | null
}

export function createAcceptEvents(deps: NewEventDeps): AcceptEvents {
  const { events, tenancy, otps, joinedIds, endpoints, attempts, backlogs, retrySchedule, clock, log } = deps
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

  async function prepare({ body, trace }: Notification): Promise<PreparedEvent[]> {
    const { app_id } = body
    const fields = newEventFields(body, await settings.get(app_id), trace)
    const receivers = (await endpoints.all(app_id)).filter(
      endpoint => asksFor(endpoint, body.type) && existedAt(endpoint, body.at),
    )
    if (receivers.length === 0) return [{ event: newEvent(fields, 'unsent'), call: null }]
    const full = receivers.some(({ payload }) => payload === 'full')
      ? fullFields(fields, await otpOfEvent({ otps, joinedIds }, fields))
      : {}
    const purge_at = purgeNotBefore(fields, clock.now() + MIN_EVENT_RETENTION_MS + retrySchedule.longestMs)
    const prepared = await Promise.allSettled(
      receivers.map(endpoint =>
        prepareFor(endpoint, { ...fields, ...(endpoint.payload === 'full' ? full : {}), purge_at }),
      ),
    )
    const ready = prepared.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
    const failed = prepared.find(one => one.status === 'rejected')
    if (failed) {
      releaseSlots(ready)
      throw failed.reason
    }
    return ready
  }

  async function prepareFor(endpoint: Endpoint, fields: NewEventFields): Promise<PreparedEvent> {
    const ref = refOf(endpoint)
    if (isPaused(endpoint))
      return { event: { ...newEvent(fields, 'held', ref), ...inBacklog(fields, 'recovery') }, call: null }
    const pending = newEvent(fields, 'pending', ref)
    const slot = attempts.takeSlot(endpoint, pending)
    if (slot === null) {
      await backlogs.mark(ref)
      return { event: { ...pending, ...inBacklog(pending, 'overflow') }, call: null }
    }
    return { event: { ...pending, tries: 1, ...attemptTimes(clock.now()) }, call: { endpoint, slot } }
  }

  async function insert(prepared: readonly PreparedEvent[]): Promise<('inserted' | 'duplicate')[]> {
    try {
      return await events.insert(prepared.map(({ event }) => event))
    } catch (error) {
      releaseSlots(prepared)
      throw error
    }
  }

  /** An event that was stored before is taken care of by the process that inserted it, or by the sweeper. */
  function callOrDrain({ event, call }: PreparedEvent, isNew: boolean): void {
    if (call && isNew) attempts.startCall(event, call.endpoint, call.slot)
    else if (call) call.slot.release(event)
    else if (isNew && event.backlog === 'overflow') backlogs.drain(event)
  }

  /** Inserts the events that could be prepared. */
  async function insertPrepared(preparing: readonly Promise<PreparedEvent[]>[]): Promise<void> {
    const all = await Promise.allSettled(preparing)
    const prepared = all.flatMap(one => (one.status === 'fulfilled' ? one.value : []))
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

/** An event belongs to the endpoints that there were when it happened, also if its message comes again later. The first endpoint of an app
 *  is sent what has just happened too: its id does not say when it was made. */
const existedAt = ({ _id }: Pick<Endpoint, '_id'>, at: number): boolean =>
  (isId('whk', _id) ? (ulidTime(_id) ?? 0) : 0) <= at

function releaseSlots(prepared: readonly PreparedEvent[]): void {
  for (const { event, call } of prepared) call?.slot.release(event)
}
