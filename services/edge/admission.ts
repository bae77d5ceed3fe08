// Admission to the edge. In: requests, each with the company that makes it. Out: a place in which it waits for its answer, or a 503 at
// once, because a request beyond these limits would be given up by its caller before its turn came.
//
//   places   This edge keeps at most MAX_IN_FLIGHT requests waiting.
//   time     The OTP actor answers calls in turn. How long a new call would wait follows from Little's law: calls in flight × time per
//            call. The time per call is learned from the latest answers: a call that found 99 others in flight and took 200 ms says 2 ms.
//            Calls of other edges to the same actor are in it, because they make the answers slower.
//
// Both are shared by one rule: a company may hold at most as many as it leaves free. So a company alone gets half, two that flood the edge
// get a third each, and the rest is left for others. A company that holds none may take the last one.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from '../domain/errors.ts'

export interface Admission {
  /** Throws a 503 when a call of this company would not be admitted now. */
  check(company_id: string): void
  /** Runs a call to the OTP actor in a place of the company, if it is admitted, and learns from the time it takes. */
  call<T>(company_id: string, work: () => Promise<T>): Promise<T>
  /** Runs work that does not wait for the OTP actor in a place of its holder: a company, or `UNKNOWN_CALLERS`. */
  read<T>(holder: string, work: () => Promise<T>): Promise<T>
}

/** The holder of places for all callers whose company is not known yet. */
export const UNKNOWN_CALLERS = ''

/** For the calls of all companies. The calls of one company alone take half of it. */
const MAX_WAIT_MS = 2_000
/** A company with few calls in flight may wait longer, though less than its callers do: a burst of another company, which is admitted before
 *  a queue is seen, does not keep it out. */
const FEW_CALLS = 16
const MAX_WAIT_WITH_FEW_CALLS_MS = 4_000
/** So many calls always fit. Of a few calls, each may wait for something of its own, and they say little about the queue. */
const MIN_CALLS = 128
/** While the oldest call in flight is younger than this there is no queue: an idle system's time per call says nothing of a busy one's. */
const MIN_OLDEST_MS = 250
const MAX_RETRY_AFTER_SECONDS = 5

export interface AdmissionDeps {
  clock: Pick<Clock, 'now'>
  maxInFlight: number
}

export function createAdmission({ clock, maxInFlight }: AdmissionDeps): Admission {
  const places = createShares()
  const calls = createShares()
  const timePerCall = createTimePerCall()
  /** Calls in flight, oldest first. */
  const inFlight = new Set<{ startedAt: number }>()
  let lastAnswerAt = clock.now()
  const silenceMs = (): number => clock.now() - lastAnswerAt

  /** How many calls the actor answers while this company may wait. After half of that time without an answer, the latest answers say
   *  nothing of the time that calls take now. */
  function maxCalls(company_id: string): number {
    const [oldest] = inFlight
    if (!oldest || clock.now() - oldest.startedAt < MIN_OLDEST_MS) return Number.POSITIVE_INFINITY
    const maxWaitMs = calls.of(company_id) < FEW_CALLS ? MAX_WAIT_WITH_FEW_CALLS_MS : MAX_WAIT_MS
    return silenceMs() > maxWaitMs / 2 ? MIN_CALLS : Math.max(MIN_CALLS, maxWaitMs / timePerCall.of(company_id))
  }

  function checkPlaces(holder: string): void {
    if (places.hasRoomFor(holder, maxInFlight)) return
    const isFull = places.total() >= maxInFlight || holder === UNKNOWN_CALLERS
    throw refusal(`Too many requests ${isFull ? '' : 'of this company '}are waiting.`, 1)
  }

  function check(company_id: string): void {
    checkPlaces(company_id)
    if (calls.hasRoomFor(company_id, maxCalls(company_id))) return
    const waitMs = Math.max((calls.total() + 1) * timePerCall.of(company_id), silenceMs())
    throw refusal('The answer would take too long.', Math.min(Math.ceil(waitMs / 1_000), MAX_RETRY_AFTER_SECONDS))
  }

  async function holdPlace<T>(holder: string, work: () => Promise<T>): Promise<T> {
    places.add(holder)
    try {
      return await work()
    } finally {
      places.remove(holder)
    }
  }

  return {
    check,
    async call(company_id, work) {
      check(company_id)
      const entry = { startedAt: clock.now() }
      if (inFlight.size === 0) lastAnswerAt = entry.startedAt
      inFlight.add(entry)
      calls.add(company_id)
      const nth = inFlight.size
      try {
        return await holdPlace(company_id, work)
      } finally {
        inFlight.delete(entry)
        calls.remove(company_id)
        lastAnswerAt = clock.now()
        timePerCall.learn(company_id, lastAnswerAt - entry.startedAt, nth)
      }
    },
    async read(holder, work) {
      checkPlaces(holder)
      return holdPlace(holder, work)
    },
  }
}

/** Counts what each holder has of something scarce. */
function createShares() {
  const held = new Map<string, number>()
  let total = 0
  const of = (holder: string): number => held.get(holder) ?? 0
  return {
    of,
    total: () => total,
    /** Whether the holder may have one more of `max`. */
    hasRoomFor(holder: string, max: number): boolean {
      const own = of(holder)
      const free = max - total
      return own === 0 ? free > 0 : own + 1 <= free - 1
    },
    add(holder: string): void {
      held.set(holder, of(holder) + 1)
      total += 1
    },
    remove(holder: string): void {
      const left = of(holder) - 1
      if (left > 0) held.set(holder, left)
      else held.delete(holder)
      total -= 1
    },
  }
}

/** What an answer weighs after the next one: about the latest hundred answers count. */
const DECAY = 0.99
const MAX_COMPANIES = 10_000

/** Learns the time per call from a company's own answers, and from all answers for a company that has none. Otherwise a company whose calls
 *  take long for reasons of their own, as those that share one idempotency key, would keep the others out. */
function createTimePerCall() {
  const all = { ms: 0, places: 0 }
  const byCompany = createBoundedMap<typeof all>(MAX_COMPANIES)
  const add = (sum: typeof all, ms: number, nth: number): void => {
    sum.ms = sum.ms * DECAY + ms
    sum.places = sum.places * DECAY + nth
  }
  return {
    of(company_id: string): number {
      const { ms, places } = byCompany.get(company_id) ?? all
      return ms / Math.max(places, 1)
    },
    /** `nth`: how many calls were in flight when this one began, with itself. */
    learn(company_id: string, ms: number, nth: number): void {
      const own = byCompany.get(company_id) ?? { ms: 0, places: 0 }
      byCompany.set(company_id, own)
      add(all, ms, nth)
      add(own, ms, nth)
    },
  }
}

const refusal = (reason: string, retryAfterSeconds: number): Problem =>
  problem('ServiceUnavailableError', {
    detail: `${reason} Nothing was executed.`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
