// Attempts of events that are in the store. In: an event whose turn has come. Out: somebody has claimed its next attempt and is calling
// its endpoint, or it is put where it waits. Claiming is a conditional change, so that no attempt is made twice.

import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-schedule.ts'
import { type Call, isSuccess } from './call.ts'
import { createCallQueue } from './call-queue.ts'
import type { RecordResult } from './call-results.ts'
import { type Endpoint, type Endpoints, isCallable } from './endpoints.ts'
import * as change from './event-changes.ts'
import type { Owner, Slots } from './slots.ts'

/** Where a call that is about to be made may be: under way at once, in a slot to be released, or in line for one. */
export type Reservation = Slots | 'seat'

export interface Attempts {
  /** How many calls the endpoint may have now. */
  freeSlots(endpoint: Endpoint, owner: Owner): number
  /** Resolves when a slot of this endpoint's is free again. */
  whenSlotFree(endpoint: Endpoint): Promise<void>
  /** A place for one call, if there is one. */
  reserve(endpoint: Endpoint, owner: Owner): Reservation | null
  /** Gives back a place that was not used. */
  unreserve(owner: Owner, reservation: Reservation): void
  /** Calls the endpoint for an event that is ours, from the place that was reserved; frees it after. Returns at once. */
  startCall(event: EventDoc, endpoint: Endpoint, reservation: Reservation): void
  /** Claims events of one app together and calls its endpoint for them in their order, for as many as there are slots. Answers for
   *  how many: the others are somebody else's by now, or have to wait. */
  attempt(waiting: readonly EventDoc[], endpoint: Endpoint): Promise<number>
  /** Nobody stays in line: their turn comes in another process. */
  stop(): void
  /** Resolves when no call is under way and what came of them is written. */
  settled(): Promise<void>
}

export interface AttemptDeps {
  events: Pick<Docs<EventDoc>, 'change'>
  /** Endpoints that keep failing share slots of their own: however many they are, the others have theirs. */
  slots: { healthy: Slots; failing: Slots }
  call: Call
  recordResult: RecordResult
  retrySchedule: RetrySchedule
  endpoints: Pick<Endpoints, 'get'>
  /** Whether events of this app wait in the store: newer ones then line up behind them. */
  hasBacklog(app_id: string): boolean
  /** Events of one app that are claimed and in line, and will not be called for now. */
  park(events: EventDoc[]): Promise<void>
  clock: Clock
  log: Logger
}

/** Calls under way at one endpoint; of one that keeps failing, just enough to notice when it no longer does. */
const MAX_CALLS_PER_ENDPOINT = 16
const MAX_CALLS_PER_FAILING_ENDPOINT = 2
const FAILURES_TO_BE_FAILING = 8

const keepsFailing = ({ life }: Pick<Endpoint, 'life'>): boolean => life.context.failures >= FAILURES_TO_BE_FAILING

export function createAttempts(deps: AttemptDeps): Attempts {
  const { events, slots, call, recordResult, retrySchedule, endpoints, hasBacklog, park, clock, log } = deps
  const underWay = new Set<Promise<void>>()
  const queue = createCallQueue({ clock, onExpired: expired => track(parkOrLog(expired.map(({ event }) => event))) })

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => underWay.delete(tracked))
    underWay.add(tracked)
  }

  const slotsFor = (endpoint: Endpoint): [Slots, number] =>
    keepsFailing(endpoint) ? [slots.failing, MAX_CALLS_PER_FAILING_ENDPOINT] : [slots.healthy, MAX_CALLS_PER_ENDPOINT]

  function freeSlots(endpoint: Endpoint, owner: Owner): number {
    const [pool, maxCalls] = slotsFor(endpoint)
    return isCallable(endpoint) ? pool.freeSlots(owner, maxCalls) : 0
  }

  /** Answers what to release it from. */
  function takeSlot(endpoint: Endpoint, owner: Owner): Slots | null {
    const [pool, maxCalls] = slotsFor(endpoint)
    return isCallable(endpoint) && pool.take(owner, maxCalls) ? pool : null
  }

  function reserve(endpoint: Endpoint, owner: Owner): Reservation | null {
    const slot = takeSlot(endpoint, owner)
    if (slot) return slot
    const mayWait = !keepsFailing(endpoint) && isCallable(endpoint) && !hasBacklog(endpoint.app_id)
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
      const result = await call(event, endpoint)
      // A failure may mean that nobody is to be called any more; a success keeps nobody waiting until it is written.
      const settled = recordResult(event, result)
      if (isSuccess(result)) track(settled)
      else await settled
    } finally {
      slot.release(event)
      callNext(event.app_id)
    }
  }

  /** A slot is free: whoever is next in line takes it. */
  function callNext(app_id: string): void {
    const next = queue.dequeue(app_id)
    if (!next) return
    const slot = takeSlot(next.endpoint, next.event)
    track(slot ? callQueued(next.event, slot) : parkOrLog([next.event]))
  }

  /** As its endpoint is now: it may have been paused since the event got in line. */
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
      // The claims stand. Once they are past their time the sweeper has the events looked at again.
      log.warn({ err: error, events: expired.length }, 'webhook.not_parked')
    }
  }

  return {
    reserve,
    freeSlots,
    whenSlotFree: endpoint => slotsFor(endpoint)[0].whenSlotFree(endpoint.app_id),
    unreserve: (owner, reservation) =>
      reservation === 'seat' ? queue.unreserve(owner.app_id) : reservation.release(owner),
    startCall(event, endpoint, reservation) {
      if (reservation !== 'seat') return track(callEndpoint(event, endpoint, reservation))
      queue.enqueue({ event, endpoint })
      // One may have been freed since.
      if (freeSlots(endpoint, event) > 0) callNext(event.app_id)
    },
    async attempt(waiting, endpoint) {
      const taken = waiting.map(event => takeSlot(endpoint, event)).filter(slot => slot !== null)
      let ours: EventDoc[] = []
      try {
        ours = await startAttempts(waiting.slice(0, taken.length))
      } finally {
        for (const event of waiting.slice(ours.length, taken.length)) taken.pop()?.release(event)
      }
      for (const [at, event] of ours.entries()) track(callEndpoint(event, endpoint, taken[at] as Slots))
      return ours.length
    },
    stop: queue.close,
    async settled() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
