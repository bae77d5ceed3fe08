// A counter of sliding windows without a store, for simulations of many days. In: rules and the time of a call. Out: whether it is granted.
// The decision is that of machines/windows.ts; its test holds the counters of the store against the same arithmetic.
import type { LimitRule } from '../../machines/settings.ts'
import { allowsOneMore, countOne, type Window, type Windows, waitFor } from '../../machines/windows.ts'

export const DAY_MS = 86_400_000

/** All that a stored window counts. */
export const countIn = (window: Window | undefined): number =>
  [window?.count ?? 0, ...(window?.before ?? [])].reduce((sum, count) => sum + count, 0)

interface WindowModel {
  /** Milliseconds until one more is granted. */
  waitAt(now: number): number
  /** Counts one if every rule allows it. */
  take(now: number): boolean
}

export function createWindowModel(rules: readonly LimitRule[]): WindowModel {
  const windows: Windows = {}
  const waitAt = (now: number): number => waitFor(windows, rules, now)
  return {
    waitAt,
    take(now) {
      if (!allowsOneMore(windows, rules, now)) return false
      countOne(windows, rules, now)
      return true
    },
  }
}
