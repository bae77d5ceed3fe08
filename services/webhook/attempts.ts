// Attempts to deliver events that are in the store. In: events whose next attempt is due. Out: the attempt is started in the store and the
// endpoint called, or the event waits. Starting is a conditional change, so no attempt is made by two processes.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { isSuccess } from '../../machines/endpoint.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-schedule.ts'
import type { Call } from './call.ts'
import type { RecordResult } from './call-results.ts'
import { type Endpoint, type Endpoints, isCallable } from './endpoints.ts'
import * as change from './event-changes.ts'
import { createSlotQueue } from './slot-queue.ts'
import type { Slots, Tenant } from './slots.ts'

/** What a call needs before its event is stored as started: a slot, which is released after the call, or a seat in the queue for one. */
export type CallPlace = Slots | 'seat'

export interface Attempts {
  /** How many more calls of the endpoint may start now. */
  freeSlots(endpoint: Endpoint, tenant: Tenant): number
  /** Resolves when a slot of this endpoint is free again. */
  whenSlotFree(endpoint: Endpoint): Promise<void>
  /** Null when there is neither a slot nor a seat. */
  reserve(endpoint: Endpoint, tenant: Tenant): CallPlace | null
  /** Gives back a place that was not used. */
  unreserve(tenant: Tenant, place: CallPlace): void
  /** Calls the endpoint for an event whose attempt this process has started; frees the place afterwards. Returns at once. */
  startCall(event: EventDoc, endpoint: Endpoint, place: CallPlace): void
  /** Starts attempts of one app's events together and calls its endpoint in their order, as far as there are slots. Answers how many
   *  were started: another process has started the others, or they have to wait. */
  attempt(waiting: readonly EventDoc[], endpoint: Endpoint): Promise<number>
  /** Parks all queued events, for another process to send. */
  parkQueued(): void
  /** Resolves when no call is under way and all results are written. */
  settled(): Promise<void>
}

export interface AttemptDeps {
  events: Pick<Docs<EventDoc>, 'change'>
  /** Endpoints that keep failing share a pool of their own, so that they never take the slots of the healthy ones. */
  slots: { healthy: Slots; failing: Slots }
  call: Call
  recordResult: RecordResult
  retrySchedule: RetrySchedule
  endpoints: Pick<Endpoints, 'get'>
  /** Whether events of this app wait in the store. Newer ones then join the backlog instead of the queue. */
  hasBacklog(app_id: string): boolean
  /** Moves started events of one app, for which no call will be made now, to the backlog. */
  park(events: EventDoc[]): Promise<void>
  /** While false, no call is begun. */
  mayWork(): boolean
  clock: Clock
  log: Logger
}

/** Calls under way at one endpoint. One that keeps failing gets just enough to notice when it recovers. */
const MAX_CALLS_PER_ENDPOINT = 16
const MAX_CALLS_PER_FAILING_ENDPOINT = 2
const FAILURES_TO_BE_FAILING = 8

const keepsFailing = ({ life }: Pick<Endpoint, 'life'>): boolean => life.context.failures >= FAILURES_TO_BE_FAILING

export function createAttempts(deps: AttemptDeps): Attempts {
  const { events, slots, call, recordResult, retrySchedule, endpoints, hasBacklog, park, mayWork, clock, log } = deps
  const underWay = new Set<Promise<void>>()
  const queue = createSlotQueue({ clock, onExpired: expired => track(parkOrLog(expired.map(({ event }) => event))) })

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
  }

  const slotsFor = (endpoint: Endpoint): [Slots, number] =>
    keepsFailing(endpoint) ? [slots.failing, MAX_CALLS_PER_FAILING_ENDPOINT] : [slots.healthy, MAX_CALLS_PER_ENDPOINT]

  const mayCall = (endpoint: Endpoint): boolean => mayWork() && isCallable(endpoint)

  function freeSlots(endpoint: Endpoint, tenant: Tenant): number {
    const [pool, maxCalls] = slotsFor(endpoint)
    return mayCall(endpoint) ? pool.freeSlots(tenant, maxCalls) : 0
  }

  /** Answers the pool to release the slot to; null when there is no slot. */
  function takeSlot(endpoint: Endpoint, tenant: Tenant): Slots | null {
    const [pool, maxCalls] = slotsFor(endpoint)
    return mayCall(endpoint) && pool.take(tenant, maxCalls) ? pool : null
  }

  function reserve(endpoint: Endpoint, tenant: Tenant): CallPlace | null {
    const slot = takeSlot(endpoint, tenant)
    if (slot) return slot
    const mayWait = !keepsFailing(endpoint) && mayCall(endpoint) && !hasBacklog(endpoint.app_id)
    return mayWait && queue.reserve(endpoint.app_id) ? 'seat' : null
  }

  async function startAttempts(waiting: readonly EventDoc[]): Promise<EventDoc[]> {
    const now = clock.now()
    const changes = waiting.map(event => ({
      _id: event._id,
      rev: event.rev,
      update: change.startAttempt(event, now, retrySchedule),
    }))
    const answers = await events.change(changes)
    return waiting.flatMap((event, at) =>
      answers[at] === 'won' ? [change.withAttemptStarted(event, now, retrySchedule)] : [],
    )
  }

  async function callEndpoint(event: EventDoc, endpoint: Endpoint, slot: Slots): Promise<void> {
    try {
      // The process may have been paused while the attempt was being stored.
      if (!mayWork()) return await parkOrLog([event])
      const result = await call(event, endpoint)
      // A failure may pause the endpoint, so the next call waits until it is written. A success delays no other call.
      const recorded = recordResult(event, result)
      if (isSuccess(result)) track(recorded)
      else await recorded
    } finally {
      slot.release(event)
      callNext(event.app_id)
    }
  }

  /** Gives a freed slot to the event that has waited longest in the queue. */
  function callNext(app_id: string): void {
    const next = queue.dequeue(app_id)
    if (!next) return
    const slot = takeSlot(next.endpoint, next.event)
    track(slot ? callQueued(next.event, slot) : parkOrLog([next.event]))
  }

  /** Reads the endpoint again: it may have been paused since the event was queued. */
  async function callQueued(event: EventDoc, slot: Slots): Promise<void> {
    const endpoint = await endpoints.get(event.app_id).catch(() => null)
    if (endpoint && isCallable(endpoint)) return callEndpoint(event, endpoint, slot)
    slot.release(event)
    callNext(event.app_id)
    await parkOrLog([event])
  }

  async function parkOrLog(expired: EventDoc[]): Promise<void> {
    try {
      await park(expired)
    } catch (error) {
      // The events stay started. When their `due_at` has passed, the sweeper reminds of them.
      log.warn({ err: error, events: expired.length }, 'webhook.not_parked')
    }
  }

  return {
    reserve,
    freeSlots,
    whenSlotFree: endpoint => slotsFor(endpoint)[0].whenSlotFree(endpoint.app_id),
    unreserve: (tenant, place) => (place === 'seat' ? queue.unreserve(tenant.app_id) : place.release(tenant)),
    startCall(event, endpoint, place) {
      if (place !== 'seat') return track(callEndpoint(event, endpoint, place))
      queue.enqueue({ event, endpoint })
      // The process may have been paused since the seat was reserved, or a slot freed.
      if (!mayWork()) queue.expireAll()
      else if (freeSlots(endpoint, event) > 0) callNext(event.app_id)
    },
    async attempt(waiting, endpoint) {
      const taken = waiting.map(event => takeSlot(endpoint, event)).filter(slot => slot !== null)
      let started: EventDoc[] = []
      try {
        started = await startAttempts(waiting.slice(0, taken.length))
      } finally {
        for (const event of waiting.slice(started.length, taken.length)) taken.pop()?.release(event)
      }
      for (const [at, event] of started.entries()) track(callEndpoint(event, endpoint, taken[at] as Slots))
      return started.length
    },
    parkQueued: queue.expireAll,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
