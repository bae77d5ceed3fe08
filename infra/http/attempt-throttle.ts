// Limits how often a caller may fail. In: the failures of each caller, by address. Out: how long a caller has to wait. It remembers a bounded
// number of networks. Everything happens without an await, so parallel attempts cannot pass where only one may.
import { createBoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'
import { networkOf } from '../ip-address.ts'

/** `address`: null where it is not known. All such callers count as one. */
export interface AttemptThrottle {
  /** 0 when the caller may try. */
  waitMs(address: string | null): number
  countFailure(address: string | null): void
}

export interface ThrottleOptions {
  /** So many failures in a window are answered as usual; further attempts have to wait. */
  maxFailures: number
  windowMs: number
  clock: Pick<Clock, 'now'>
}

/** At least half as many are remembered. */
const MAX_TRACKED_NETWORKS = 20_000
/** A caller with IPv6 can take any address of its /64. */
const COUNTED_NETWORK = { ipv4: 32, ipv6: 64 }

const callerAt = (address: string | null): string =>
  address === null ? 'unknown' : networkOf(address, COUNTED_NETWORK)

export function createAttemptThrottle({ maxFailures, windowMs, clock }: ThrottleOptions): AttemptThrottle {
  /** The times of the latest failures. An attacker who holds enough addresses to be forgotten here gains less by that than by the
   *  addresses. */
  const failures = createBoundedMap<readonly number[]>(MAX_TRACKED_NETWORKS)
  return {
    waitMs(address) {
      const earliest = failures.get(callerAt(address))?.at(-maxFailures)
      return earliest === undefined ? 0 : Math.max(0, earliest + windowMs - clock.now())
    },
    countFailure(address) {
      const caller = callerAt(address)
      const times = [...(failures.get(caller) ?? []), clock.now()].slice(-maxFailures)
      failures.set(caller, times)
    },
  }
}
