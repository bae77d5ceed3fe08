// Counts on counters. In: a request for one more under a limit. Out: whether it was granted. Each update is applied by the store atomically, and
// its arithmetic is that of machines/windows.ts. The requests of one tick become one update per counter; these updates go to the store in one
// write, and the counters are read back together. A write for each request would cost the engine more than the rest of a send.
//
// A batched update returns no value, so it stores its answer in the document, under the name of the process. That is enough, because a
// process has at most one update of a counter under way.
import { randomBytes } from 'node:crypto'
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs, Pipeline } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import type { Limit } from '../../../machines/quotas.ts'
import {
  bucketAt,
  countOne,
  lengthOf,
  nearestUse,
  passedAt,
  type RuleUse,
  type WindowRule,
  waitFor,
  windowName,
} from '../../../machines/windows.ts'
import { RECIPIENT_WEIGHS_ONCE_MS } from '../../domain/routes/contribution.ts'
import type { CounterDoc, Grant } from '../../domain/verifications/documents.ts'

export interface CounterUpdateDeps {
  /** Batched: the operations of one tick go together. */
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert' | 'update'>
  clock: Pick<Clock, 'now'>
}

/** `otherKeys`: the former keys under which the counter exists too. What is granted must be counted under them as well. */
type UpdateResult =
  | {
      granted: true
      locked_ms: number
      use: RuleUse | undefined
      last_at: number | undefined
      otherKeys: readonly string[]
    }
  | Extract<TakeResult, { granted: false }>

const ONE_UPDATE_AT_A_TIME = { maxSize: 10_000, parallel: 1 }
const NONE_FOUND: ReadonlyMap<string, CounterDoc> = new Map()

export function createCounterUpdate({ counters, clock }: CounterUpdateDeps): (limit: Limit) => Promise<UpdateResult> {
  const by = randomBytes(6).toString('base64url')
  let calls = 0

  /** Asks for `count` grants under one limit. */
  const grantMany = (limit: Limit, count: number): Promise<UpdateResult[]> =>
    retryAfterLostRace('a counter', async () => {
      const { key, formerKeys = [], rules } = limit
      const now = clock.now()
      calls += 1
      const call = { by, call: calls }
      const [answer] = await counters.update([{ ids: [key], update: grantUpdate(limit, count, now, call) }])
      // The other counters are read after this one was counted. So of two processes that count under different keys at once, at least
      // one finds the other's counter.
      const found = answer === 'updated' ? await counters.get([key, ...formerKeys]) : NONE_FOUND
      const after = found.get(key)
      const ownGrant = after?.grants?.find(one => isOfCall(one, call))
      if (after && ownGrant) {
        const granted: UpdateResult = {
          granted: true,
          locked_ms: Math.max(0, (after.locked_until ?? 0) - now),
          use: nearestUse(after.windows, rules, now),
          last_at: ownGrant.last_at ?? undefined,
          otherKeys: formerKeys.filter(former => found.has(former)),
        }
        const refused: UpdateResult = { granted: false, retry_after_ms: waitFor(after.windows, rules, now) }
        // Of those that are granted together, one comes before the others.
        const next = limit.tellsLast ? { ...granted, last_at: now } : granted
        return Array.from({ length: count }, (_, nth) =>
          nth >= ownGrant.granted ? refused : nth === 0 ? granted : next,
        )
      }
      // Without a document, the counter is new, purged or erased. With one, more processes asked at once than `grants` keeps: the request
      // is repeated and counts twice.
      if (!after) await counters.insert([emptyCounter(key, rules, now)])
      return LOST
    })

  /** One counter can have requests under different rules: a suspect address has a share of the limit. They run one after the other. */
  async function grantAll(requests: Limit[]): Promise<UpdateResult[]> {
    const answers: UpdateResult[] = []
    for (const { limit, positions } of byRules(requests)) {
      const taken = await grantMany(limit, positions.length)
      for (const [nth, position] of positions.entries()) answers[position] = taken[nth] as UpdateResult
    }
    return answers
  }

  return createKeyedBatcher(({ key }: Limit) => key, grantAll, ONE_UPDATE_AT_A_TIME)
}

/** Groups the requests of a batch by their rules, and keeps their positions. */
function byRules(requests: readonly Limit[]): { limit: Limit; positions: number[] }[] {
  const groups = new Map<string, { limit: Limit; positions: number[] }>()
  for (const [position, limit] of requests.entries()) {
    const name = JSON.stringify(limit.rules)
    const group = groups.get(name)
    if (group) group.positions.push(position)
    else groups.set(name, { limit, positions: [position] })
  }
  return [...groups.values()]
}

const isOfCall = (grant: Grant, { by, call }: Pick<Grant, 'by' | 'call'>): boolean =>
  grant.by === by && grant.call === call

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

const emptyCounter = (_id: string, rules: readonly WindowRule[], now: number): CounterDoc => ({
  _id,
  windows: {},
  granted: 0,
  purge_at: purgeAt({ rules }, now),
})

/** How many processes can ask at once before the answer to one of them is dropped. */
const MAX_STORED_GRANTS = 64

/** Grants as many of `wanted` as every rule allows, counts them, and stores the answer in `grants` for the process `by` to read. */
function grantUpdate(
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
  // A grant within the hour leaves the time as it is. Otherwise a recipient who comes every fifty minutes would never weigh again.
  const isNewHour = { $gte: [now - RECIPIENT_WEIGHS_ONCE_MS, { $ifNull: ['$last_at', 0] }] }
  const newLast = { $cond: [isNewHour, now, '$last_at'] }
  const last = tellsLast
    ? {
        last_at: { $cond: [{ $gt: ['$granted', 0] }, newLast, before.last_at] },
        last_at_before: {
          $cond: [
            { $gt: ['$granted', 0] },
            // Of several, one may be given back while another stays.
            { $cond: [{ $gt: ['$granted', 1] }, newLast, before.last_at] },
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
