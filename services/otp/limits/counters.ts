// Counts on counters. In: a request for one more under a limit. Out: whether it was granted. Each update is applied by
// the store atomically, and its arithmetic is that of machines/windows.ts. The requests of one tick become one update
// per counter; these updates go to the store in one write, and the counters are read back together. A write for each
// request would cost the engine more than the rest of a send.
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
  countOne,
  lengthOf,
  nearestUse,
  PARTS,
  partAt,
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
      at: number
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
        const use = nearestUse(after.windows, rules, now)
        const granted: UpdateResult = {
          granted: true,
          at: now,
          locked_ms: Math.max(0, (after.locked_until ?? 0) - now),
          use,
          last_at: ownGrant.last_at ?? undefined,
          otherKeys: formerKeys.filter(former => found.has(former)),
        }
        const refused: UpdateResult = {
          granted: false,
          retry_after_ms: waitFor(after.windows, rules, now),
          ...(use && { use }),
        }
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

/** `at`: when it was counted, which `giveBack` asks for. `locked_ms`: how long the counter is still locked, if it is. A
 *  lock does not keep `take` from granting. `use`: of the rule that is nearest to its end, this grant included; absent
 *  where there is no rule. Without a grant it is the rule that refuses, and while only the lock refuses, again the one
 *  nearest to its end. `last_at`: when the counter was counted before, where the limit asks for it and it was. */
export type TakeResult =
  | { granted: true; at: number; locked_ms?: number; use?: RuleUse; last_at?: number }
  | { granted: false; retry_after_ms: number; use?: RuleUse }

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
    return { $subtract: [rule.max, { $add: [`${window}.count`, { $sum: `${window}.before` }] }] }
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

const PLACES: readonly number[] = Array.from({ length: PARTS + 1 }, (_, place) => place)
const ZEROS: readonly number[] = Array.from({ length: PARTS - 1 }, () => 0)

/** Subtracts one from the part in which it was counted `at` that time. A process whose clock is behind may have counted it in a later part:
 *  it is subtracted from the oldest part since then that counts any, because from a later one, another's count would go out too early. What
 *  has left its window stays as it is. The last count is again the one before the latest grant, as if that grant were the one given back.
 *  If it is an earlier one, the latest is forgotten as well. */
export function uncountUpdate(
  { rules, tellsLast }: Pick<Limit, 'rules' | 'tellsLast'>,
  at: number,
  now: number,
): Pipeline {
  const names = rules.map(windowName)
  /** The place of the part among those of the window, newest first. */
  const places = rules.map((rule, nth) => {
    const { part, count, before } = membersOf(names[nth] ?? '')
    const age = { $subtract: [part, partAt(rule, at)] }
    const counts = { $concatArrays: [[count], { $ifNull: [before, []] }] }
    const since = { $slice: [PLACES, { $add: [age, 1] }] }
    const counting = { $filter: { input: since, cond: { $gt: [{ $arrayElemAt: [counts, '$$this'] }, 0] } } }
    const isOut = { $gt: [age, PARTS] }
    return { $cond: [{ $gt: [age, 0] }, { $cond: [isOut, null, { $max: counting }] }, 0] }
  })
  const decrements = names.flatMap(name => {
    const { count, before } = membersOf(name)
    const place = `$places.${name}`
    const one = (condition: unknown) => ({ $cond: [condition, 1, 0] })
    const less = {
      $map: {
        input: { $slice: [PLACES.slice(1), { $size: before }] },
        in: {
          $subtract: [{ $arrayElemAt: [before, { $subtract: ['$$this', 1] }] }, one({ $eq: ['$$this', place] })],
        },
      },
    }
    return [
      [`windows.${name}.count`, { $max: [0, { $subtract: [count, one({ $eq: [place, 0] })] }] }],
      [`windows.${name}.before`, { $cond: [{ $gt: [place, 0] }, less, before] }],
    ]
  })
  const last = tellsLast ? { last_at: { $ifNull: ['$last_at_before', null] } } : {}
  return [
    { $set: rolledWindows(rules, now) },
    { $set: { places: Object.fromEntries(names.map((name, nth) => [name, places[nth]])) } },
    { $set: { ...Object.fromEntries(decrements), ...last } },
    { $unset: ['places'] },
  ]
}

const membersOf = (name: string) => ({
  part: `$windows.${name}.part`,
  count: `$windows.${name}.count`,
  before: `$windows.${name}.before`,
})

/** Moves every window on to the part of `now`. A process whose clock is behind counts into the part that is already open. */
function rolledWindows(rules: readonly WindowRule[], now: number): Record<string, unknown> {
  const windows = rules.map(rule => {
    const name = windowName(rule)
    const { part, count, before } = membersOf(name)
    const here = partAt(rule, now)
    const passed = { $subtract: [here, { $ifNull: [part, 0] }] }
    const skipped = { $slice: [ZEROS, { $subtract: [passed, 1] }] }
    const moved = { $slice: [{ $concatArrays: [skipped, [count], { $ifNull: [before, []] }] }, PARTS] }
    const next = { part: here, count: 0, before: { $cond: [{ $gt: [passed, PARTS] }, '$$REMOVE', moved] } }
    return [`windows.${name}`, { $cond: [{ $gte: [part, here] }, `$windows.${name}`, next] }]
  })
  return Object.fromEntries(windows)
}

/** When no window of these rules counts anything any more, with room for clocks that differ, and it is not asked for
 *  its last count. A counter is purged when that is so for all of its windows. */
const purgeAt = ({ rules, tellsLast }: Pick<Limit, 'rules' | 'tellsLast'>, now: number): Date =>
  new Date(now + Math.max(tellsLast ? RECIPIENT_WEIGHS_ONCE_MS : 0, ...rules.map(rule => 2 * lengthOf(rule))))
