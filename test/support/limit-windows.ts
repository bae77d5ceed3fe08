// A counter of sliding windows without a store, for simulations of many days. In: rules and the time of a call. Out: whether it is granted.
// The decision is that of services/otp/limits/windows.ts; its test holds the counters of the store against the same arithmetic.
import type { LimitRule } from '../../machines/settings.ts'
import type { CounterDoc } from '../../services/domain/verifications/documents.ts'
import { waitFor } from '../../services/otp/limits/windows.ts'

export const DAY_MS = 86_400_000

export interface WindowModel {
  /** Milliseconds until one more is granted. */
  waitAt(now: number): number
  /** Counts one if every rule allows it. */
  take(now: number): boolean
}

export function createWindowModel(rules: readonly LimitRule[]): WindowModel {
  const windows: CounterDoc['windows'] = {}
  const waitAt = (now: number): number => waitFor(windows, rules, now)
  return {
    waitAt,
    take(now) {
      if (waitAt(now) > 0) return false
      // Rules of the same length share a window.
      for (const seconds of new Set(rules.map(rule => rule.seconds))) {
        const bucket = Math.floor(now / (seconds * 1000))
        const open = windows[`s${seconds}`] ?? { bucket, count: 0, before: 0 }
        const moved = bucket - open.bucket
        const rolled = moved === 0 ? open : { bucket, count: 0, before: moved === 1 ? open.count : 0 }
        windows[`s${seconds}`] = { ...rolled, count: rolled.count + 1 }
      }
      return true
    },
  }
}
