// Admission to the edge. In: requests, each with the company that makes it. Out: a place in which
// it waits for its answer, or a 503, because its caller would give up before its turn came. Whom it refuses, how
// companies share, and when it is asked: docs/decisions/overload.md.
import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Clock } from '../../infra/clock.ts'
import { createCounts } from '../../infra/counts.ts'
import type { Problem } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import { notExecuted } from './errors.ts'

export interface Admission {
  /** A 503 when a call of this holder would not be admitted now, else null. */
  refusalFor(holder: Holder): Problem | null
  /** Counts a call of this holder that is not made yet, until the returned function is called. */
  reserve(holder: Holder): () => void
  /** Throws the 503. */
  check(holder: Holder): void
  /** Runs a call to the OTP actor in a place of its holder, if it is admitted, and learns from the time it takes. */
  call<T>(holder: Holder, work: () => Promise<T>): Promise<T>
  /** Runs work that does not wait for the OTP actor in a place of its holder. */
  read<T>(holder: Holder, work: () => Promise<T>): Promise<T>
}

/** The servers or the devices of a company. */
export type Holder = Pick<Identity, 'company_id' | 'kind'>

/** All callers whose company is not known yet: they count as the devices of one company. */
export const UNKNOWN_CALLERS: Holder = { company_id: '', kind: 'publishable' }

/** For the calls of all companies. The calls of one company alone take half of it. */
const MAX_WAIT_MS = 2_000
/** For a company with few calls in flight. */
const FEW_CALLS = 16
const MAX_WAIT_WITH_FEW_CALLS_MS = 4_000
/** So many calls always fit. */
const MIN_CALLS = 128
/** While the oldest call in flight is younger than this there is no queue. */
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
  /** Calls that wait for their turn to be made, oldest first. They are no part of the time that the actor takes. */
  const expected = new Set<{ startedAt: number }>()
  let lastAnswerAt = clock.now()
  const silenceMs = (): number => clock.now() - lastAnswerAt

  /** How many calls the actor answers while this company may wait. */
  function maxCalls({ company_id }: Holder): number {
    const [[oldest], [oldestExpected]] = [inFlight, expected]
    const oldestAt = Math.min(oldest?.startedAt ?? clock.now(), oldestExpected?.startedAt ?? clock.now())
    if (clock.now() - oldestAt < MIN_OLDEST_MS) return Number.POSITIVE_INFINITY
    const maxWaitMs = calls.of(company_id) < FEW_CALLS ? MAX_WAIT_WITH_FEW_CALLS_MS : MAX_WAIT_MS
    return silenceMs() > maxWaitMs / 2 ? MIN_CALLS : Math.max(MIN_CALLS, maxWaitMs / timePerCall.of(company_id))
  }

  function lackOfPlaces(holder: Holder): Problem | null {
    if (places.hasRoomFor(holder, maxInFlight)) return null
    const isFull = places.total() >= maxInFlight || holder === UNKNOWN_CALLERS
    return refusal(`Too many requests ${isFull ? '' : 'of this company '}are waiting.`, 1)
  }

  function refusalFor(holder: Holder): Problem | null {
    const lack = lackOfPlaces(holder)
    if (lack !== null || calls.hasRoomFor(holder, maxCalls(holder))) return lack
    const waitMs = Math.max((calls.total() + 1) * timePerCall.of(holder.company_id), silenceMs())
    return refusal('The answer would take too long.', Math.min(Math.ceil(waitMs / 1_000), MAX_RETRY_AFTER_SECONDS))
  }

  const check = (holder: Holder): void => throwIfRefused(refusalFor(holder))

  async function holdPlace<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    places.add(holder)
    try {
      return await work()
    } finally {
      places.remove(holder)
    }
  }

  return {
    refusalFor,
    reserve(holder) {
      const entry = { startedAt: clock.now() }
      expected.add(entry)
      places.add(holder)
      calls.add(holder)
      return () => {
        expected.delete(entry)
        places.remove(holder)
        calls.remove(holder)
      }
    },
    check,
    async call(holder, work) {
      check(holder)
      const entry = { startedAt: clock.now() }
      if (inFlight.size === 0) lastAnswerAt = entry.startedAt
      inFlight.add(entry)
      calls.add(holder)
      const nth = inFlight.size
      try {
        return await holdPlace(holder, work)
      } finally {
        inFlight.delete(entry)
        calls.remove(holder)
        lastAnswerAt = clock.now()
        timePerCall.learn(holder.company_id, lastAnswerAt - entry.startedAt, nth)
      }
    },
    async read(holder, work) {
      throwIfRefused(lackOfPlaces(holder))
      return holdPlace(holder, work)
    },
  }
}

/** Counts what each company has of something scarce, and how much of that its devices have. */
function createShares() {
  const [byCompany, byDevices] = [createCounts(), createCounts()]
  let total = 0
  return {
    of: byCompany.of,
    total: () => total,
    /** Whether the holder may have one more of `max`. */
    hasRoomFor({ company_id, kind }: Holder, max: number): boolean {
      const free = max - total
      if (byCompany.of(company_id) === 0) return free > 0
      if (byCompany.of(company_id) + 1 > free - 1) return false
      return kind === 'server' || 2 * (byDevices.of(company_id) + 1) <= free - 1
    },
    add(holder: Holder): void {
      change(holder, 1)
    },
    remove(holder: Holder): void {
      change(holder, -1)
    },
  }

  function change({ company_id, kind }: Holder, by: 1 | -1): void {
    byCompany.add(company_id, by)
    if (kind === 'publishable') byDevices.add(company_id, by)
    total += by
  }
}

/** What an answer weighs after the next one: about the latest hundred answers count. */
const DECAY = 0.99
const MAX_COMPANIES = 10_000

/** Learns the time per call from a company's own answers, and from all answers for a company that has none. */
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

const refusals = new Map<string, Problem>()

/** Each is made once: an overload makes thousands a second, and the stack of an error costs as much as the rest of an answer. */
function refusal(reason: string, retryAfterSeconds: number): Problem {
  const key = `${reason} ${retryAfterSeconds}`
  const made =
    refusals.get(key) ?? notExecuted(reason, { headers: { 'Retry-After': String(retryAfterSeconds) }, isPaced: true })
  refusals.set(key, made)
  return made
}

function throwIfRefused(refused: Problem | null): void {
  if (refused !== null) throw refused
}
