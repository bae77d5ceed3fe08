// Limits how often a caller may fail. In: the failures of each caller. Out: how long a caller has to wait. It remembers a bounded number of
// callers. Everything happens without an await, so parallel attempts cannot pass where only one may.
import { createBoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'

export interface AttemptThrottle {
  /** 0 when the caller may try. */
  waitMs(caller: string): number
  countFailure(caller: string): void
}

export interface ThrottleOptions {
  /** So many failures in a window are answered as usual; further attempts have to wait. */
  maxFailures: number
  windowMs: number
  /** At least half as many are remembered. */
  maxCallers: number
  clock: Pick<Clock, 'now'>
}

export function createAttemptThrottle({ maxFailures, windowMs, maxCallers, clock }: ThrottleOptions): AttemptThrottle {
  /** The times of the latest failures. An attacker who holds enough addresses to be forgotten here gains less by that than by the
   *  addresses. */
  const failures = createBoundedMap<readonly number[]>(maxCallers)
  return {
    waitMs(caller) {
      const earliest = failures.get(caller)?.at(-maxFailures)
      return earliest === undefined ? 0 : Math.max(0, earliest + windowMs - clock.now())
    },
    countFailure(caller) {
      const times = [...(failures.get(caller) ?? []), clock.now()].slice(-maxFailures)
      failures.set(caller, times)
    },
  }
}
