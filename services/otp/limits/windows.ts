// The updates of counters. In: rules, a counter, the time. Out: an update that the store applies atomically. Its arithmetic is that of
// machines/windows.ts.
import type { Pipeline } from '../../../infra/store/docs.ts'
import type { Limit } from '../../../machines/quotas.ts'
import {
  bucketAt,
  countOne,
  lengthOf,
  passedAt,
  type RuleUse,
  type WindowRule,
  windowName,
} from '../../../machines/windows.ts'
import { RECIPIENT_WEIGHS_ONCE_MS } from '../../domain/routes/contribution.ts'
import type { CounterDoc, Grant } from '../../domain/verifications/documents.ts'

/** `locked_ms`: how long the counter is still locked, if it is. A lock does not keep `take` from granting. `use`: of the rule that is
 *  nearest to its end, this grant included; absent where there is no rule. `last_at`: when the counter was counted before, where the limit
 *  asks for it and it was. */
export type TakeResult =
  | { granted: true; locked_ms?: number; use?: RuleUse; last_at?: number }
  | { granted: false; retry_after_ms: number }

/** A new counter with one grant; null if a rule allows none. */
export function firstCounter(limit: Limit, now: number): CounterDoc | null {
  const { key: _id, rules, tellsLast } = limit
  if (rules.some(rule => rule.max < 1)) return null
  const windows: CounterDoc['windows'] = {}
  countOne(windows, rules, now)
  return { _id, windows, granted: 1, ...(tellsLast ? { last_at: now } : {}), purge_at: purgeAt(limit, now) }
}

export const emptyCounter = (_id: string, rules: readonly WindowRule[], now: number): CounterDoc => ({
  _id,
  windows: {},
  granted: 0,
  purge_at: purgeAt({ rules }, now),
})

/** How many processes can ask at once before the answer to one of them is dropped. */
const MAX_STORED_GRANTS = 64

/** Grants as many of `wanted` as every rule allows, counts them, and stores the answer in `grants` for the process `by` to read. */
export function grantUpdate(
  limit: Pick<Limit, 'rules' | 'tellsLast'>,
  wanted: number,
  now: number,
  { by, call }: Pick<Grant, 'by' | 'call'>,
): Pipeline {
  const { rules, tellsLast } = limit
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
  const last = tellsLast
    ? {
        last_at: { $cond: [{ $gt: ['$granted', 0] }, now, before.last_at] },
        last_at_before: {
          $cond: [
            { $gt: ['$granted', 0] },
            // Of several, one may be given back while another stays.
            { $cond: [{ $gt: ['$granted', 1] }, now, before.last_at] },
            { $ifNull: ['$last_at_before', null] },
          ],
        },
      }
    : {}
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
        purge_at: { $max: ['$purge_at', purgeAt(limit, now)] },
      },
    },
  ]
}

/** Subtracts one from the current bucket, or from the previous one if the current bucket is empty. The last count is again the one before
 *  the latest grant, as if that grant were the one given back. If it is an earlier one, the latest is forgotten as well. */
export function uncountUpdate({ rules, tellsLast }: Pick<Limit, 'rules' | 'tellsLast'>, now: number): Pipeline {
  const decrements = rules.flatMap(rule => {
    const [count, before] = [`windows.${windowName(rule)}.count`, `windows.${windowName(rule)}.before`]
    const current = { $gt: [`$${count}`, 0] }
    return [
      [before, { $cond: [current, `$${before}`, { $max: [0, { $subtract: [`$${before}`, 1] }] }] }],
      [count, { $max: [0, { $subtract: [`$${count}`, 1] }] }],
    ]
  })
  const last = tellsLast ? { last_at: { $ifNull: ['$last_at_before', null] } } : {}
  return [{ $set: rolledWindows(rules, now) }, { $set: { ...Object.fromEntries(decrements), ...last } }]
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

/** When no window of these rules overlaps its buckets any more, and it is not asked for its last count. A counter is purged when that is
 *  so for all of its windows. */
const purgeAt = ({ rules, tellsLast }: Pick<Limit, 'rules' | 'tellsLast'>, now: number): Date =>
  new Date(now + Math.max(tellsLast ? RECIPIENT_WEIGHS_ONCE_MS : 0, ...rules.map(rule => 2 * lengthOf(rule))))
