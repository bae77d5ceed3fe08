// How long to wait before the next attempt of an event. The store holds the exact time, jittered; the broker only has fixed delays. So
// each rung waits in the broker for the shortest time its jitter can come to, and whoever is woken early waits out the rest.
const JITTER = 0.2

/** The shortest wait of a rung. */
const shortestWait = (rungMs: number): number => Math.max(1, Math.floor(rungMs * (1 - JITTER)))

/** The delays a broker must have for this ladder. */
export const brokerDelays = <B extends { webhook: readonly number[] }>(backoff: B): B => ({
  ...backoff,
  webhook: backoff.webhook.map(shortestWait),
})

export interface RetrySchedule {
  /** Attempts in a round: one more than there are waits. */
  readonly attempts: number
  /** The longest a round can take. */
  readonly longestMs: number
  /** The wait after the nth attempt, jittered by `random`, from 0 to below 1; null after the last. */
  waitAfter(attempt: number, random: number): number | null
  /** The broker's delay to sleep for when as much is left: the longest that is not too long. Null when it would take many: what is
   *  left is then better waited out in hand. */
  brokerDelay(leftMs: number): number | null
}

/** A delay that is shorter than this share of what is left is no help. */
const MIN_USEFUL_SHARE = 1 / 8

export function createRetrySchedule(backoff: readonly number[]): RetrySchedule {
  const delays = [...new Set(backoff.map(shortestWait))].sort((a, b) => b - a)
  return {
    attempts: backoff.length + 1,
    longestMs: backoff.reduce((sum, rung) => sum + rung * (1 + JITTER), 0),
    waitAfter(attempt, random) {
      const rung = backoff[attempt - 1]
      return rung === undefined ? null : Math.ceil(rung * (1 - JITTER + 2 * JITTER * random))
    },
    brokerDelay(leftMs) {
      const delay = delays.find(one => one <= leftMs)
      return delay !== undefined && delay >= leftMs * MIN_USEFUL_SHARE ? delay : null
    },
  }
}
