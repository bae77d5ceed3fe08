// The arithmetic of sliding windows. In: rules, a counter's windows, the time. Out: whether one more is granted, the windows after, and the
// wait until the next grant. Pure. The store counts by the same arithmetic, in an update that it applies atomically
// (services/otp/limits/counters.ts).
//
// A window is counted in parts of a tenth of its length, which begin at multiples of that tenth since the epoch. The oldest part counts
// whole until no moment of it is in the window any more. So there are never more than `max` in any stretch of `seconds`, and a count goes
// out at most a tenth of the window late.
import type { LimitUse } from './calls.ts'
import type { KeyKind } from './otp.ts'
import type { LimitRule } from './settings.ts'

/** The window of one rule: the number of its newest part since the epoch, the count of that part, and the counts of the parts before it,
 *  newest first. Those that are left out counted nothing. */
export interface Window {
  part: number
  count: number
  before?: readonly number[]
}

/** By `windowName`. */
export type Windows = Record<string, Window>

/** A rule of a limit. A counter can count several things: then the windows of the others have their names. `server`,
 *  `publishable`: the calls by that kind of key. */
export interface WindowRule extends LimitRule {
  counts?: 'messages' | KeyKind
}

/** How far a rule is used. */
export type RuleUse = Omit<LimitUse, 'scope'>

/** The rule with the smallest share left; of those that are full, the one that is full the longest. */
export function nearestUse(windows: Windows, rules: readonly WindowRule[], now: number): RuleUse | undefined {
  return nearestOf(rules.map(rule => useOf(windows[windowName(rule)], rule, now)))
}

export function nearestOf<Use extends RuleUse>(uses: readonly (Use | undefined)[]): Use | undefined {
  let nearest: Use | undefined
  for (const use of uses)
    if (use !== undefined && (nearest === undefined || isNearerToItsEnd(use, nearest))) nearest = use
  return nearest
}

const isNearerToItsEnd = (one: RuleUse, other: RuleUse): boolean =>
  one.remaining + other.remaining > 0
    ? one.remaining * other.max < other.remaining * one.max
    : one.more_in_ms > other.more_in_ms

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

/** The parts of a window. One more is counted, because a window begins and ends within a part. */
export const PARTS = 10
const partLength = (seconds: number): number => (seconds * 1000) / PARTS
export const partAt = ({ seconds }: LimitRule, now: number): number => Math.floor(now / partLength(seconds))
/** Nothing that these windows count was counted later. */
export const countedUntil = (windows: Windows): number =>
  Math.max(0, ...Object.entries(windows).map(([name, { part }]) => (part + 1) * partLength(secondsIn(name))))
const secondsIn = (windowName: string): number => Number(/\d+$/.exec(windowName)?.[0])
/** When a part has left the window. */
const outAt = (part: number, { seconds }: LimitRule): number => (part + PARTS + 1) * partLength(seconds)

/** The most that all rules together allow in any stretch of that length. Infinity without a rule. */
export const mostIn = (rules: readonly LimitRule[], seconds: number): number =>
  Math.min(...rules.map(rule => rule.max * Math.ceil(seconds / rule.seconds)))

/** How many more the rule allows. */
const headroomAt = (window: Window | undefined, rule: LimitRule, now: number): number =>
  rule.max - (window === undefined ? 0 : usedAt(window, rule, now))

/** Whether none of the windows counts anything any more. */
export function areOver(windows: Windows, now: number): boolean {
  for (const name in windows) {
    const seconds = Number(name.slice(name.lastIndexOf('s') + 1))
    if (Math.floor(now / partLength(seconds)) <= (windows[name]?.part ?? 0) + PARTS) return false
  }
  return true
}

/** Whether every rule allows one more. */
export const allowsOneMore = (windows: Windows, rules: readonly WindowRule[], now: number): boolean =>
  rules.every(rule => headroomAt(windows[windowName(rule)], rule, now) >= 1)

/** Counts one in the windows of these rules. A window that is ahead of `now` keeps its newest part. */
export function countOne(windows: Windows, rules: readonly WindowRule[], now: number): void {
  // Rules of the same length share a window.
  const after: Windows = {}
  for (const rule of rules) {
    const name = windowName(rule)
    after[name] = countedOne(windows[name], partAt(rule, now))
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
  if (rule.max < 1) return lengthOf(rule)
  if (!window) return 0
  let tooMany = usedAt(window, rule, now) + 1 - rule.max
  if (tooMany <= 0) return 0
  // The oldest part goes out first.
  for (let nth = countedBefore(window, rule, now) - 1; nth >= 0; nth -= 1) {
    tooMany -= window.before?.[nth] ?? 0
    if (tooMany <= 0) return outAt(window.part - 1 - nth, rule) - now
  }
  return outAt(window.part, rule) - now
}

/** What the window counts now. */
function usedAt(window: Window, rule: LimitRule, now: number): number {
  if (partAt(rule, now) - window.part > PARTS) return 0
  const { before } = window
  let used = window.count
  for (let nth = countedBefore(window, rule, now) - 1; nth >= 0; nth -= 1) used += before?.[nth] ?? 0
  return used
}

/** How many of the parts before its newest one the window still counts. */
const countedBefore = ({ part, before }: Window, rule: LimitRule, now: number): number =>
  Math.min(before?.length ?? 0, PARTS - Math.max(0, partAt(rule, now) - part))

/** The window with one more in the part `here`. */
function countedOne(window: Window | undefined, here: number): Window {
  if (window === undefined || here - window.part > PARTS) return { part: here, count: 1 }
  if (here <= window.part) return { ...window, count: window.count + 1 }
  const skipped = Array.from({ length: here - window.part - 1 }, () => 0)
  return { part: here, count: 1, before: [...skipped, window.count, ...(window.before ?? [])].slice(0, PARTS) }
}
