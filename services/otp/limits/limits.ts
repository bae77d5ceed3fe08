// Limits that all processes share. In: a counter and its rules. Out: granted, or how long to wait. Checking and counting are one atomic
// update, so parallel calls are never granted more than the rules allow. Which limits apply to a call is in machines/quotas.ts.
//
// While data keys rotate, the current key of one process is a former key of another. A process copies a counter to its current key when it
// first sees it. From then on every process counts a grant under each key under which the counter exists, and each of them must allow it.
// So the counter that was made first has all counts, and the copy has them when the old key is removed.
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Limit } from '../../../machines/quotas.ts'
import {
  longestFullRule,
  nearestOf,
  nearestUse,
  partAt,
  type RuleUse,
  waitFor,
  windowName,
} from '../../../machines/windows.ts'
import { copyFormerCounters } from '../../domain/verifications/counter-names.ts'
import {
  type CounterUpdateDeps,
  createCounterUpdate,
  firstCounter,
  type TakeResult,
  uncountUpdate,
} from './counters.ts'

export interface Limits {
  /** Counts one if every rule allows it. The answer says whether the counter is locked. */
  take(limit: Limit): Promise<TakeResult>
  /** Subtracts one that was granted `at` that time and is not used. */
  giveBack(limit: Limit, at: number): Promise<void>
  /** Whether one more would be granted now. Also refuses while the counter is locked. Counts nothing. */
  peek(limit: Limit): Promise<TakeResult>
  /** Whether this process has seen a window of the limit full, and has not asked again since. */
  wasFull(limit: Limit): boolean
  /** The same as `peek`, for a limit that was full: once it is granted, it counts as not full any more. */
  peekAgain(limit: Limit): Promise<TakeResult>
  /** The same as `peek`, with the two reasons apart. */
  waits(limit: Limit): Promise<LimitWaits>
  /** Makes `peek` refuse for this long, even if the rules would allow more. */
  lock(limit: Limit, ms: number): Promise<void>
}

/** Milliseconds until one more is allowed by the rules, and until the lock ends; 0 if it is allowed now. */
export interface LimitWaits {
  rules_ms: number
  lock_ms: number
  /** The length of the longest rule that is full; 0 if none is. */
  full_rule_ms: number
  /** The use of the rule that is nearest to its end, or that is full the longest. */
  use?: RuleUse
}

const grantedAt = (at: number, use?: RuleUse, locked_ms = 0, last_at?: number): TakeResult => ({
  granted: true,
  at,
  ...(locked_ms > 0 ? { locked_ms } : {}),
  ...(use ? { use } : {}),
  ...(last_at === undefined ? {} : { last_at }),
})
const MAX_KNOWN_KEYS = 20_000

interface GivenBack {
  limit: Limit
  at: number
}

export function createLimits({ counters, clock }: CounterUpdateDeps): Limits {
  const knownKeys = createBoundedMap<true>(MAX_KNOWN_KEYS)
  const fullWindows = createBoundedMap<true>(MAX_KNOWN_KEYS)
  /** By its own key, every key under which a counter is counted, if there are several. */
  const keysOfCounters = createBoundedMap<readonly string[]>(MAX_KNOWN_KEYS)

  /** Most counters of recipients are new, and a batched insert costs a tenth of a computed update. Returns null if the counter exists or
   *  a rule allows none: then the update must decide. */
  async function insertFirst(limit: Limit): Promise<TakeResult | null> {
    const { key, formerKeys = [], rules } = limit
    const copied = formerKeys.length > 0 && (await copyFormerCounters(counters, [{ key, formerKeys }])).has(key)
    const now = clock.now()
    const first = copied ? null : firstCounter(limit, now)
    knownKeys.set(key, true)
    if (first === null) return null
    const [answer] = await counters.insert([first])
    return answer === 'inserted' ? grantedAt(now, nearestUse(first.windows, rules, now)) : null
  }

  const updateCounter = createCounterUpdate({ counters, clock })

  /** What was counted in the same parts under the same rules and is given back in one tick shares one update, so that the store runs it
   *  as one statement. */
  const giveBackBatched = createKeyedBatcher(
    ({ limit: { rules, tellsLast }, at }: GivenBack) =>
      JSON.stringify([rules, tellsLast, rules.map(rule => partAt(rule, at))]),
    async all => {
      const { limit, at } = all[0] as GivenBack
      return counters.update([{ ids: all.map(one => one.limit.key), update: uncountUpdate(limit, at, clock.now()) }])
    },
    { maxSize: 500, parallel: 2 },
  )
  /** Under its other keys a grant is counted without its time. */
  const giveBackUnder = async (keys: readonly string[], limit: Limit, at: number): Promise<void> => {
    const { rules } = limit
    await Promise.all(keys.map(key => giveBackBatched({ limit: key === limit.key ? limit : { key, rules }, at })))
  }

  async function countUnderEveryKey(limit: Limit): Promise<TakeResult> {
    const { key, rules } = limit
    const own = await updateCounter(limit)
    if (!own.granted) return own
    const granted = grantedAt(own.at, own.use, own.locked_ms, own.last_at)
    if (own.otherKeys.length === 0) return granted
    const counted = [key]
    for (const otherKey of own.otherKeys) {
      const other = await updateCounter({ key: otherKey, rules })
      if (!other.granted) {
        await giveBackUnder(counted, limit, own.at)
        return other
      }
      counted.push(otherKey)
    }
    keysOfCounters.set(key, counted)
    return granted
  }

  async function waits({ key, formerKeys = [], rules }: Limit): Promise<LimitWaits> {
    const found = [...(await counters.get([key, ...formerKeys])).values()]
    const now = clock.now()
    const use = nearestOf(found.map(({ windows }) => nearestUse(windows, rules, now)))
    return {
      rules_ms: Math.max(0, ...found.map(({ windows }) => waitFor(windows, rules, now))),
      lock_ms: Math.max(0, ...found.map(({ locked_until = 0 }) => locked_until - now)),
      full_rule_ms: Math.max(0, ...found.map(({ windows }) => longestFullRule(windows, rules, now))),
      ...(use && { use }),
    }
  }

  async function peek(limit: Limit): Promise<TakeResult> {
    const { rules_ms, lock_ms, use } = await waits(limit)
    const wait = Math.max(rules_ms, lock_ms)
    return wait > 0 ? { granted: false, retry_after_ms: wait, ...(use && { use }) } : grantedAt(clock.now())
  }

  return {
    peek,
    waits,
    async take(limit) {
      if (limit.rules.length === 0) return grantedAt(clock.now())
      const first = knownKeys.get(limit.key) ? null : await insertFirst(limit)
      if (first !== null) return first
      const taken = await countUnderEveryKey(limit)
      if (!taken.granted) for (const name of windowsOf(limit)) fullWindows.set(name, true)
      return taken
    },
    async giveBack(limit, at) {
      const { key, rules } = limit
      if (rules.length > 0) await giveBackUnder(keysOfCounters.get(key) ?? [key], limit, at)
    },
    wasFull: limit => windowsOf(limit).some(fullWindows.get),
    async peekAgain(limit) {
      const taken = await peek(limit)
      if (taken.granted) for (const name of windowsOf(limit)) fullWindows.delete(name)
      return taken
    },
    async lock({ key, formerKeys = [] }, ms) {
      const until = clock.now() + ms
      // The counter may have to live longer than its lock, for a longer rule.
      const $set = {
        locked_until: { $max: ['$locked_until', until] },
        purge_at: { $max: ['$purge_at', new Date(until + ms)] },
      }
      await counters.update([{ ids: [key, ...formerKeys], update: [{ $set }] }])
    },
  }
}

const windowsOf = ({ key, rules }: Limit): string[] => rules.map(rule => `${key} ${windowName(rule)}`)
