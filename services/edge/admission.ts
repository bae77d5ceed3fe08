// Admission by time. In: calls to the OTP actor. Out: a 503 at once for a call that would wait longer than about a second, instead of a
// place in a queue that its caller will not stand to the end.
//
// How long a new call would wait follows from Little's law: calls in flight × time per call. The time per call is learned from the latest
// answers: a call that found 99 others in flight and took 200 ms says 2 ms. Calls of other edges to the same actor are in it, because they
// make the answers slower.
import type { Clock } from '../../infra/clock.ts'
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from '../domain/errors.ts'

export interface Admission {
  /** Throws a 503 when a call that began now would wait too long. */
  check(): void
  /** Checks, then runs the call and learns from the time it takes. */
  run<T>(call: () => Promise<T>): Promise<T>
}

const MAX_WAIT_MS = 1_000
/** So many are always admitted. Of a few calls, each may wait for something of its own, and they say little about the queue. */
const MIN_IN_FLIGHT = 64
/** While the oldest call in flight is younger than this there is no queue: an idle system's time per call says nothing of a busy one's. */
const MIN_OLDEST_MS = 250
/** What an answer weighs after the next one: about the latest hundred answers count. */
const DECAY = 0.99
const MAX_RETRY_AFTER_SECONDS = 5

export function createAdmission(clock: Pick<Clock, 'now'>): Admission {
  /** Oldest first. */
  const inFlight = new Set<{ startedAt: number }>()
  let [sumOfTimes, sumOfPlaces] = [0, 0]
  let lastAnswerAt = clock.now()

  /** At least as long as there was no answer: when nothing is answered, no answer can tell that calls take longer now. */
  const expectedWait = (): number =>
    Math.max(((inFlight.size + 1) * sumOfTimes) / Math.max(sumOfPlaces, 1), clock.now() - lastAnswerAt)

  function learn(ms: number, place: number): void {
    sumOfTimes = sumOfTimes * DECAY + ms
    sumOfPlaces = sumOfPlaces * DECAY + place
    lastAnswerAt = clock.now()
  }

  function check(): void {
    if (inFlight.size < MIN_IN_FLIGHT) return
    const [oldest] = inFlight
    if (!oldest || clock.now() - oldest.startedAt < MIN_OLDEST_MS) return
    const waitMs = expectedWait()
    if (waitMs > MAX_WAIT_MS) throw tooLong(waitMs)
  }

  return {
    check,
    async run(call) {
      check()
      const entry = { startedAt: clock.now() }
      if (inFlight.size === 0) lastAnswerAt = entry.startedAt
      inFlight.add(entry)
      const place = inFlight.size
      try {
        return await call()
      } finally {
        inFlight.delete(entry)
        learn(clock.now() - entry.startedAt, place)
      }
    },
  }
}

const tooLong = (waitMs: number): Problem =>
  problem('ServiceUnavailableError', {
    detail: 'The answer would take too long. Nothing was executed.',
    headers: { 'Retry-After': String(Math.min(Math.ceil(waitMs / 1_000), MAX_RETRY_AFTER_SECONDS)) },
  })
