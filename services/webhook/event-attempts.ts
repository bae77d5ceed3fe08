// Attempts to deliver events that are in the store. In: events whose next attempt is due. Out: the attempt is started in the store and the
// endpoint called, or the event waits. Starting is a conditional change, so no attempt is made by two processes.
import type { Clock } from '../../infra/clock.ts'
import { createMissingKeyReporter, isMissingKeyError } from '../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { DAY_MS } from '../../infra/time.ts'
import { createUnderWay } from '../../infra/under-way.ts'
import { isSuccess } from '../../machines/endpoint.ts'
import type { Metadata } from '../domain/verifications/metadata.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { RetrySchedule } from '../domain/webhooks/retry-waits.ts'
import type { EndpointCall } from './endpoint-call.ts'
import { type RecordResult, subjectOf } from './endpoint-results.ts'
import { type Endpoint, isCallable } from './endpoints.ts'
import * as change from './event-changes.ts'
import type { Slots, Tenant } from './slots.ts'

export interface EventAttempts {
  /** How many more calls of the endpoint may start now. */
  freeSlots(endpoint: Endpoint, tenant: Tenant): number
  /** Resolves when a slot of this endpoint is free again. */
  whenSlotFree(endpoint: Endpoint): Promise<void>
  /** Answers the pool to release the slot to, if no call is made; null when there is no slot. */
  takeSlot(endpoint: Endpoint, tenant: Tenant): Slots | null
  /** Calls the endpoint for an event whose attempt this process has started; releases the slot afterwards. Returns at once. */
  startCall(event: EventDoc, endpoint: Endpoint, slot: Slots): void
  /** Starts attempts of one endpoint's events together and calls it in their order, as far as there are slots. Answers how many
   *  were started: another process has started the others, or they have to wait. */
  attempt(waiting: readonly EventDoc[], endpoint: Endpoint): Promise<number>
  /** Resolves when no call is under way and all results are written. */
  settled(): Promise<void>
}

export interface EventAttemptsDeps {
  events: Pick<Docs<EventDoc>, 'change'>
  /** Endpoints that keep failing share a pool of their own, so that they never take the slots of the healthy ones. */
  slots: { healthy: Slots; failing: Slots }
  call: EndpointCall
  /** Null once they are erased, or their verification is gone. Throws while they cannot be read. */
  metadataOf(event: EventDoc): Promise<Metadata | null>
  recordResult: RecordResult
  retrySchedule: RetrySchedule
  /** Moves a started event, for which no call will be made now, to the backlog. */
  park(event: EventDoc): Promise<void>
  /** While false, no call is begun. */
  mayWork(): boolean
  clock: Clock
  log: Logger
}

/** Calls under way at one endpoint. One that keeps failing gets just enough to notice when it recovers. */
export const MAX_CALLS_PER_ENDPOINT = 16
const MAX_CALLS_PER_FAILING_ENDPOINT = 2
const FAILURES_TO_BE_FAILING = 8

/** The store is away, or a data key is missing, so an event with metadata cannot be sent now. */
const UNREAD = Symbol('unread')
/** Until it is tried again. A missing key may stay away for long. */
const UNREAD_RETRY_MS = 60_000
/** An event is not held for longer by a key that is missing, or lost for good: then it is sent without its metadata. */
const MAX_WAIT_FOR_KEY_MS = DAY_MS

const keepsFailing = ({ life }: Pick<Endpoint, 'life'>): boolean => life.context.failures >= FAILURES_TO_BE_FAILING

export function createEventAttempts(deps: EventAttemptsDeps): EventAttempts {
  const { events, slots, call, metadataOf, recordResult, retrySchedule, park, mayWork, clock, log } = deps
  const reportMissingKey = createMissingKeyReporter({ log, clock })
  const underWay = createUnderWay()

  const slotsFor = (endpoint: Endpoint): [Slots, number] =>
    keepsFailing(endpoint) ? [slots.failing, MAX_CALLS_PER_FAILING_ENDPOINT] : [slots.healthy, MAX_CALLS_PER_ENDPOINT]

  const mayCall = (endpoint: Endpoint): boolean => mayWork() && isCallable(endpoint)

  function freeSlots(endpoint: Endpoint, tenant: Tenant): number {
    const [pool, maxCalls] = slotsFor(endpoint)
    return mayCall(endpoint) ? pool.freeSlots(tenant, maxCalls) : 0
  }

  function takeSlot(endpoint: Endpoint, tenant: Tenant): Slots | null {
    const [pool, maxCalls] = slotsFor(endpoint)
    return mayCall(endpoint) && pool.take(tenant, maxCalls) ? pool : null
  }

  async function startAttempts(waiting: readonly EventDoc[]): Promise<EventDoc[]> {
    const now = clock.now()
    const starting = waiting.map(event => ({ event, update: change.startAttempt(event, now, retrySchedule) }))
    const answers = await events.change(starting.map(({ event: { _id, rev }, update }) => ({ _id, rev, update })))
    return starting.flatMap(({ event, update }, at) =>
      answers[at] === 'won' ? [change.withAttemptStarted(event, update)] : [],
    )
  }

  async function callEndpoint(event: EventDoc, endpoint: Endpoint, slot: Slots): Promise<void> {
    try {
      // The process may have been paused while the attempt was being stored.
      if (!mayWork()) return await orLog(event, park(event))
      const metadata = event.with_metadata ? await readMetadata(event) : null
      if (metadata === UNREAD) return await orLog(event, postpone(event))
      const result = await call(event, endpoint, metadata)
      // A failure may pause the endpoint, so the next call waits until it is written. A success delays no other call.
      const recorded = recordResult(event, result)
      if (isSuccess(result)) underWay.add(recorded)
      else await recorded
    } finally {
      slot.release(event)
    }
  }

  async function readMetadata(event: EventDoc): Promise<Metadata | null | typeof UNREAD> {
    try {
      return await metadataOf(event)
    } catch (error) {
      if (isMissingKeyError(error)) {
        reportMissingKey(error, subjectOf(event))
        if (clock.now() >= (event.unread_since ?? clock.now()) + MAX_WAIT_FOR_KEY_MS) return null
      } else log.warn({ err: error, ...subjectOf(event) }, 'webhook.postponed')
      return UNREAD
    }
  }

  /** Not to the backlog, which would be drained again at once. The sweeper reminds of it. */
  async function postpone(event: EventDoc): Promise<void> {
    const update = change.postponeUnread(event, clock.now(), clock.now() + UNREAD_RETRY_MS)
    await events.change([{ _id: event._id, rev: event.rev, update }])
  }

  async function orLog(event: EventDoc, write: Promise<void>): Promise<void> {
    try {
      await write
    } catch (error) {
      // The event stays started. When its `due_at` has passed, the sweeper reminds of it.
      log.warn({ err: error, ...subjectOf(event) }, 'webhook.not_parked')
    }
  }

  return {
    takeSlot,
    freeSlots,
    whenSlotFree: endpoint => slotsFor(endpoint)[0].whenSlotFree(endpoint._id),
    startCall: (event, endpoint, slot) => underWay.add(callEndpoint(event, endpoint, slot)),
    async attempt(waiting, endpoint) {
      const taken = waiting.map(event => takeSlot(endpoint, event)).filter(slot => slot !== null)
      let started: EventDoc[] = []
      try {
        started = await startAttempts(waiting.slice(0, taken.length))
      } finally {
        for (const event of waiting.slice(started.length, taken.length)) taken.pop()?.release(event)
      }
      for (const [at, event] of started.entries()) underWay.add(callEndpoint(event, endpoint, taken[at] as Slots))
      return started.length
    },
    async settled() {
      while (underWay.size() > 0) await underWay.settled()
    },
  }
}
