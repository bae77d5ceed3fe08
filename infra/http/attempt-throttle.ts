// Limits how often a caller may fail. In: the failures of each caller, by address. Out: how long a caller has to wait.
// It remembers a bounded number of networks. Everything happens without an await, so parallel attempts cannot pass
// where only one may.
//
// Behind a proxy that is missing in TRUSTED_PROXIES, all callers have the proxy's address, and one of them would shut out the others. So
// they are counted by the address that the proxy gives, which a client may have invented, and together by the proxy's with a higher limit.
import { createBoundedMap } from '../bounded-map.ts'
import type { Clock } from '../clock.ts'
import { networkOf } from '../ip-address.ts'
import type { Caller } from './caller-address.ts'

export type ThrottledCaller = Pick<Caller, 'nearestKnown' | 'forwarded'>

/** `subject`: what the caller tries to get at, where failures at one do not count for another. */
export interface AttemptThrottle {
  /** 0 when the caller may try. */
  waitMs(caller: ThrottledCaller, subject?: string): number
  countFailure(caller: ThrottledCaller, subject?: string): void
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
/** How many callers may share a proxy that is not trusted before they notice each other. */
const CALLERS_PER_PROXY = 20

interface Count {
  key: string
  maxFailures: number
}

export function createAttemptThrottle({ maxFailures, windowMs, clock }: ThrottleOptions): AttemptThrottle {
  /** The times of the latest failures. An attacker who holds enough addresses to be forgotten here gains less by that than by the
   *  addresses. */
  const failures = createBoundedMap<readonly number[]>(MAX_TRACKED_NETWORKS)

  function countsOf({ nearestKnown, forwarded }: ThrottledCaller, subject: string): Count[] {
    if (forwarded === null) return [{ key: `${subject} ${networkAt(nearestKnown)}`, maxFailures }]
    return [
      { key: `${subject} ${networkAt(forwarded)} by ${networkAt(nearestKnown)}`, maxFailures },
      { key: `${subject} ${networkAt(nearestKnown)}`, maxFailures: CALLERS_PER_PROXY * maxFailures },
    ]
  }

  return {
    waitMs(caller, subject = '') {
      const waits = countsOf(caller, subject).map(count => {
        const earliest = failures.get(count.key)?.at(-count.maxFailures)
        return earliest === undefined ? 0 : earliest + windowMs - clock.now()
      })
      return Math.max(0, ...waits)
    },
    countFailure(caller, subject = '') {
      for (const count of countsOf(caller, subject)) {
        const times = [...(failures.get(count.key) ?? []), clock.now()].slice(-count.maxFailures)
        failures.set(count.key, times)
      }
    },
  }
}

/** All callers whose address is not known count as one. */
const networkAt = (address: string | null): string =>
  address === null ? 'unknown' : networkOf(address, COUNTED_NETWORK)
