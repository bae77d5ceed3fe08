// The arithmetic of sliding windows. In: rules, a counter, the time. Out: an update that the store applies atomically, or the wait until
// the next grant. A window's count = the count of the current bucket + the share of the previous bucket that the window still overlaps.
import type { Pipeline } from '../../../infra/store/docs.ts'
import type { LimitUse } from '../../../machines/calls.ts'
import type { LimitRule } from '../../../machines/settings.ts'
import type { CounterDoc, Grant, Window } from '../../domain/verifications/documents.ts'

/** A rule of a limit. A counter can count two things: then the windows of the second one have its name. */
export interface WindowRule extends LimitRule {
  counts?: 'messages'
}

export interface Limit {
  /** The counter: of an app, of a recipient of an app, or of a client address of an app. */
  key: string
  /** Its keys under other data keys. While data keys rotate, the counts under them still hold. */
  formerKeys?: readonly string[]
  rules: readonly WindowRule[]
  /** The counter remembers when it was last counted under such a limit, and a grant tells it. */
  tellsLast?: true
}

/** How far a rule is used. */
export type RuleUse = Omit<LimitUse, 'scope'>

/** `locked_ms`: how long the counter is still locked, if it is. A lock does not keep `take` from granting. `use`: of the rule that is
 *  nearest to its end, this grant included; absent where there is no rule. `last_at`: when the counter was counted before, where the limit
 *  asks for it and it was. */
export type TakeResult =
  | { granted: true; locked_ms?: number; use?: RuleUse; last_at?: number }
  | { granted: false; retry_after_ms: number }

/** The rule with the smallest share left. */
export function nearestUse(
  windows: CounterDoc['windows'],
  rules: readonly WindowRule[],
  now: number,
): RuleUse | undefined {
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
  const [count, before] = countsAt(window, rule, now)
  const used = count + before * (1 - passedAt(rule, now))
  const remaining = Math.max(0, Math.floor(rule.max - used))
  // One more than now fits as soon as one fits under a rule that allows what is used.
  const more_in_ms = waitForRule(window, { ...rule, max: rule.max - remaining }, now)
  return { max: rule.max, seconds: rule.seconds, remaining, more_in_ms }
}

/** The name of the rule's window in its counter. */
export const windowName = ({ counts, seconds }: WindowRule): string =>
  counts === undefined ? `s${seconds}` : `${counts}_s${seconds}`
const lengthOf = (rule: LimitRule): number => rule.seconds * 1000
const bucketAt = (rule: LimitRule, now: number): number => Math.floor(now / lengthOf(rule))
/** The share of the previous bucket that has slid out of the window. */
const passedAt = (rule: LimitRule, now: number): number => (now % lengthOf(rule)) / lengthOf(rule)

/** A new counter with one grant; null if a rule allows none. */
export function firstCounter({ key: _id, rules, tellsLast }: Limit, now: number): CounterDoc | null {
  if (rules.some(rule => rule.max < 1)) return null
  const windows: CounterDoc['windows'] = {}
  for (const rule of rules) windows[windowName(rule)] = { bucket: bucketAt(rule, now), count: 1, before: 0 }
  return { _id, windows, granted: 1, ...(tellsLast ? { last_at: now } : {}), purge_at: purgeAt(rules, now) }
}

export const emptyCounter = (_id: string, rules: readonly WindowRule[], now: number): CounterDoc => ({
  _id,
  windows: {},
  granted: 0,
  purge_at: purgeAt(rules, now),
})

/** How many processes can ask at once before the answer to one of them is dropped. */
const MAX_STORED_GRANTS = 64

/** Grants as many of `wanted` as every rule allows, counts them, and stores the answer in `grants` for the process `by` to read. */
export function grantUpdate(
  { rules, tellsLast }: Pick<Limit, 'rules' | 'tellsLast'>,
  wanted: number,
  now: number,
  { by, call }: Pick<Grant, 'by' | 'call'>,
): Pipeline {
  const headrooms = rules.map(rule => {
    const window = `$windows.${windowName(rule)}`
    const overlap = { $multiply: [`${window}.before`, 1 - passedAt(rule, now)] }
    return { $floor: { $subtract: [rule.max, { $add: [`${window}.count`, overlap] }] } }
  })
  const increments = rules.map(rule => {
    const count = `windows.${windowName(rule)}.count`
    return [count, { $add: [`$${count}`, '$granted'] }]
  })
  const before = tellsLast ? { last_at: { $ifNull: ['$last_at', null] } } : {}
  const last = tellsLast ? { last_at: now } : {}
  const othersGrants = {
    $filter: { input: { $ifNull: ['$grants', []] }, as: 'grant', cond: { $ne: ['$$grant.by', by] } },
  }
  const grants = {
    $slice: [{ $concatArrays: [othersGrants, [{ by, call, granted: '$granted', ...before }]] }, -MAX_STORED_GRANTS],
  }
  return [
    { $set: rolledWindows(rules, now) },
    { $set: { granted: { $max: [0, { $min: [wanted, ...headrooms] }] } } },
    {
      $set: {
        ...Object.fromEntries(increments),
        grants,
        ...last,
        purge_at: { $max: ['$purge_at', purgeAt(rules, now)] },
      },
    },
  ]
}

/** Subtracts one from the current bucket, or from the previous one if the current bucket is empty. */
export function uncountUpdate(rules: readonly WindowRule[], now: number): Pipeline {
  const decrements = rules.flatMap(rule => {
    const [count, before] = [`windows.${windowName(rule)}.count`, `windows.${windowName(rule)}.before`]
    const current = { $gt: [`$${count}`, 0] }
    return [
      [before, { $cond: [current, `$${before}`, { $max: [0, { $subtract: [`$${before}`, 1] }] }] }],
      [count, { $max: [0, { $subtract: [`$${count}`, 1] }] }],
    ]
  })
  return [{ $set: rolledWindows(rules, now) }, { $set: Object.fromEntries(decrements) }]
}

/** Moves every window to the bucket of `now`. A process whose clock is behind counts into the bucket that is already open. */
function rolledWindows(rules: readonly WindowRule[], now: number): Record<string, unknown> {
  const windows = rules.map(rule => {
    const name = `windows.${windowName(rule)}`
    const here = bucketAt(rule, now)
    const bucket = { $ifNull: [`$${name}.bucket`, here] }
    const count = { $ifNull: [`$${name}.count`, 0] }
    const open = { $gte: [bucket, here] }
    return [
      name,
      {
        bucket: { $max: [bucket, here] },
        count: { $cond: [open, count, 0] },
        before: {
          $cond: [open, { $ifNull: [`$${name}.before`, 0] }, { $cond: [{ $eq: [bucket, here - 1] }, count, 0] }],
        },
      },
    ]
  })
  return Object.fromEntries(windows)
}

/** When no window of these rules overlaps its buckets any more. A counter is purged when that is so for all of its windows. */
const purgeAt = (rules: readonly WindowRule[], now: number): Date =>
  new Date(now + 2 * Math.max(...rules.map(lengthOf)))

/** Milliseconds until every rule allows one more; 0 if they do now. */
export const waitFor = (windows: CounterDoc['windows'], rules: readonly WindowRule[], now: number): number =>
  Math.max(0, ...rules.map(rule => waitForRule(windows[windowName(rule)], rule, now)))

/** The length of the longest rule that allows no more now, in milliseconds; 0 if every rule does. */
export const longestFullRule = (windows: CounterDoc['windows'], rules: readonly WindowRule[], now: number): number =>
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
