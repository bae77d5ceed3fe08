// When a call is repeated, and how long after. A client has a budget of repetitions, so that an outage does not multiply the load: each
// takes one from it, and ten calls that succeed give one back.

const MOST_BUDGET = 10
const EARNED_BY_SUCCESS = 0.1
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 8_000
/** A server that asks for more patience than this gets no second call from the same one: the caller is told. */
const LONGEST_RETRY_AFTER_S = 20

export interface RetryBudget {
  /** Whether one more may be made; if so, it is counted. */
  take(): boolean
  succeeded(): void
}

export function createRetryBudget(): RetryBudget {
  let left = MOST_BUDGET
  return {
    take() {
      if (left < 1) return false
      left -= 1
      return true
    },
    succeeded() {
      left = Math.min(MOST_BUDGET, left + EARNED_BY_SUCCESS)
    },
  }
}

/** Milliseconds before repetition number `repetition` (from 0), or null when the server asks for too long a wait.
 *  `random`: from 0 to 1. The whole wait is random, so that callers that failed together do not come back together. */
export function retryWait(repetition: number, retryAfter: number | null, random: number): number | null {
  if (retryAfter === null) return random * Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** repetition)
  if (retryAfter > LONGEST_RETRY_AFTER_S) return null
  return retryAfter * 1000 + random * FIRST_WAIT_MS
}
