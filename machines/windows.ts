// The arithmetic of sliding windows. In: rules, a counter's windows, the time. Out: whether one more is granted, the windows after, and the
// wait until the next grant. A window's count = the count of the current bucket + the share of the previous bucket that the window still
// overlaps. Pure. The store counts by the same arithmetic, in an update that it applies atomically (services/otp/limits/counters.ts).
import type { LimitUse } from './calls.ts'
import type { KeyKind } from './otp.ts'
import type { LimitRule } from './settings.ts'

/** The window of one rule: `bucket` is its number since the epoch, `count` its count, `before` the count of the bucket before it. */
export interface Window {
  bucket: number
  count: number
  before: number
}

/** By `windowName`. */
export type Windows = Record<string, Window>

/** A rule of a limit. A counter can count several things: then the windows of the others have their names. `server`, `publishable`: the calls
 *  by that kind of key. */
export interface WindowRule extends LimitRule {
  counts?: 'messages' | KeyKind
}

/** How far a rule is used. */
export type RuleUse = Omit<LimitUse, 'scope'>

/** The rule with the smallest share left. */
export function nearestUse(windows: Windows, rules: readonly WindowRule[], now: number): RuleUse | undefined {
  let nearest: RuleUse | undefined
  for (const rule of rules) {
    const use = useOf(windows[windowName(rule)], rule, now)
    if (nearest === undefined || isNearerToItsEnd(use, nearest)) nearest = use
  }
  return nearest
}

export const isNearerToItsEnd = (one: RuleUse, other: RuleUse): boolean =>
  one.remaining * other.max < other.remaining * one.max

function useOf(window: Window | undefined, rule: LimitRule, now: number): RuleUse {
  const remaining = Math.max(0, headroomAt(window, rule, now))
  // One more than now fits as soon as one fits under a rule that allows what is used.
  const more_in_ms = waitForRule(window, { ...rule, max: rule.max - remaining }, now)
  return { max: rule.max, seconds: rule.seconds, remaining, more_in_ms }
}

/** Kept by length, because a replay of past sends asks for them millions of times, and settings have few lengths. */
const windowNames = {
  sends: new Map<number, string>(),
  messages: new Map<number, string>(),
  server: new Map<number, string>(),
  publishable: new Map<number, string>(),
}

/** The name of the rule's window in its counter. */
export function windowName({ counts, seconds }: WindowRule): string {
  const names = windowNames[counts ?? 'sends']
  const known = names.get(seconds)
  if (known !== undefined) return known
  const name = counts === undefined ? `s${seconds}` : `${counts}_s${seconds}`
  names.set(seconds, name)
  return name
}
export const lengthOf = (rule: LimitRule): number => rule.seconds * 1000
export const bucketAt = (rule: LimitRule, now: number): number => Math.floor(now / lengthOf(rule))
/** The share of the previous bucket that has slid out of the window. */
export const passedAt = (rule: LimitRule, now: number): number => (now % lengthOf(rule)) / lengthOf(rule)

/** How many more the rule allows. */
const headroomAt = (window: Window | undefined, rule: LimitRule, now: number): number => {
  const [count, before] = countsAt(window, rule, now)
  return Math.floor(rule.max - (count + before * (1 - passedAt(rule, now))))
}

/** Whether none of the windows counts anything any more. */
export function areOver(windows: Windows, now: number): boolean {
  for (const name in windows) {
    const seconds = Number(name.slice(name.lastIndexOf('s') + 1))
    if (Math.floor(now / (seconds * 1000)) <= (windows[name]?.bucket ?? 0) + 1) return false
  }
  return true
}

/** Whether every rule allows one more. */
export const allowsOneMore = (windows: Windows, rules: readonly WindowRule[], now: number): boolean =>
  rules.every(rule => headroomAt(windows[windowName(rule)], rule, now) >= 1)

/** Counts one in the windows of these rules. A window that is ahead of `now` keeps its bucket. */
export function countOne(windows: Windows, rules: readonly WindowRule[], now: number): void {
  // Rules of the same length share a window.
  const after: Windows = {}
  for (const rule of rules) {
    const name = windowName(rule)
    const known = windows[name]
    const [count, before] = countsAt(known, rule, now)
    after[name] = { bucket: Math.max(known?.bucket ?? 0, bucketAt(rule, now)), count: count + 1, before }
  }
  Object.assign(windows, after)
}

/** Milliseconds until every rule allows one more; 0 if they do now. */
export const waitFor = (windows: Windows, rules: readonly WindowRule[], now: number): number =>
  Math.max(0, ...rules.map(rule => waitForRule(windows[windowName(rule)], rule, now)))

/** The length of the longest rule that allows no more now, in milliseconds; 0 if every rule does. */
export const longestFullRule = (windows: Windows, rules: readonly WindowRule[], now: number): number =>
  Math.max(0, ...rules.filter(rule => waitForRule(windows[windowName(rule)], rule, now) > 0).map(lengthOf))

function waitForRule(window: Window | undefined, rule: LimitRule, now: number): number {
  const length = lengthOf(rule)
  if (rule.max < 1) return length
  if (!window) return 0
  const [count, before] = countsAt(window, rule, now)
  const left = length - (now % length)
  // One more fits when enough of the previous bucket has slid out, or in the next bucket, when enough of this one has.
  if (count + 1 <= rule.max)
    return Math.max(0, Math.ceil(shareToSlideOut(before, rule.max - count - 1) * length) - (now % length))
  return left + Math.ceil(shareToSlideOut(count, rule.max - 1) * length)
}

/** The counts of the current and of the previous bucket. */
function countsAt(window: Window | undefined, rule: LimitRule, now: number): readonly [number, number] {
  if (!window) return [0, 0]
  const age = bucketAt(rule, now) - window.bucket
  return age <= 0 ? [window.count, window.before] : age === 1 ? [0, window.count] : [0, 0]
}

/** The share of a bucket that must slide out until at most `headroom` of its `count` is left. */
const shareToSlideOut = (count: number, headroom: number): number => (count <= headroom ? 0 : 1 - headroom / count)
