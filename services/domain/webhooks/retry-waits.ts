// How long to wait before the next attempt of an event. In: the waits, which are WEBHOOK_BACKOFF in infra/config/config.ts. Out: the wait
// after each attempt, with jitter, and the delays the broker needs. The store holds the exact time of an attempt, but the broker has fixed
// delays only: each one is the shortest wait that jitter allows, and a timer waits for the rest.
const JITTER = 0.2

const shortestWait = (waitMs: number): number => Math.max(1, Math.floor(waitMs * (1 - JITTER)))

/** The delays that the broker must have. */
export const brokerDelays = <B extends { webhook: readonly number[] }>(backoff: B): B => ({
  ...backoff,
  webhook: backoff.webhook.map(shortestWait),
})

export interface RetrySchedule {
  /** The longest time that the waits of a round can take. */
  readonly longestMs: number
  /** The wait after the nth attempt, jittered by `random`, from 0 to below 1; null after the last. */
  waitAfter(attempt: number, random: number): number | null
  /** The longest of the broker's delays that is not longer than `leftMs`. Null when it would take many of them: a timer is then
   *  better. */
  brokerDelay(leftMs: number): number | null
}

/** A delay that is shorter than this share of the time left is not used. */
const MIN_USEFUL_SHARE = 1 / 8

export function createRetrySchedule(backoff: readonly number[]): RetrySchedule {
  const delays = [...new Set(backoff.map(shortestWait))].sort((a, b) => b - a)
  return {
    longestMs: backoff.reduce((sum, waitMs) => sum + waitMs * (1 + JITTER), 0),
    waitAfter(attempt, random) {
      const waitMs = backoff[attempt - 1]
      return waitMs === undefined ? null : Math.ceil(waitMs * (1 - JITTER + 2 * JITTER * random))
    },
    brokerDelay(leftMs) {
      const delay = delays.find(one => one <= leftMs)
      return delay !== undefined && delay >= leftMs * MIN_USEFUL_SHARE ? delay : null
    },
  }
}
