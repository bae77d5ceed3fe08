// Limits that all processes share. In: a counter and its rules. Out: granted, or how long to wait. Checking and counting are one atomic
// update, so parallel calls are never granted more than the rules allow. Which limits apply to a call is in quotas.ts.
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import { copyFormerCounters } from '../../domain/verifications/counter-names.ts'
import { type CounterUpdateDeps, createCounterUpdate } from './counter-updates.ts'
import { firstCounter, type Limit, type TakeResult, uncountUpdate, waitFor, windowName } from './windows.ts'

export interface Limits {
  /** Counts one if every rule allows it. */
  take(limit: Limit): Promise<TakeResult>
  /** Subtracts one that was granted and is not used. */
  giveBack(limit: Limit): Promise<void>
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
}

const GRANTED: TakeResult = { granted: true }
const MAX_KNOWN_KEYS = 20_000

export function createLimits({ counters, clock }: CounterUpdateDeps): Limits {
  const knownKeys = createBoundedMap<true>(MAX_KNOWN_KEYS)
  const fullWindows = createBoundedMap<true>(MAX_KNOWN_KEYS)

  /** Most counters of recipients are new, and a batched insert costs a tenth of a computed update. Returns false if the counter exists or
   *  a rule allows none: then the update must decide. */
  async function insertFirst({ key, formerKeys = [], rules }: Limit): Promise<boolean> {
    const copied = formerKeys.length > 0 && (await copyFormerCounters(counters, [{ key, formerKeys }])).has(key)
    const first = copied ? null : firstCounter(key, rules, clock.now())
    knownKeys.set(key, true)
    if (first === null) return false
    const [answer] = await counters.insert([first])
    return answer === 'inserted'
  }

  const updateCounter = createCounterUpdate({ counters, clock })

  /** What is given back under the same rules in one tick shares one update, so that the store runs it as one statement. */
  const giveBackBatched = createKeyedBatcher(
    ({ rules }: Limit) => JSON.stringify(rules),
    async all => {
      const update = uncountUpdate(all[0]?.rules ?? [], clock.now())
      return counters.update([{ ids: all.map(({ key }) => key), update }])
    },
    { maxSize: 500, parallel: 2 },
  )

  async function waits({ key, formerKeys = [], rules }: Limit): Promise<LimitWaits> {
    const names = [key, ...formerKeys]
    const found = await counters.get(names)
    const counter = names.flatMap(name => found.get(name) ?? [])[0]
    const now = clock.now()
    return {
      rules_ms: counter ? waitFor(counter.windows, rules, now) : 0,
      lock_ms: Math.max(0, (counter?.locked_until ?? 0) - now),
    }
  }

  async function peek(limit: Limit): Promise<TakeResult> {
    const { rules_ms, lock_ms } = await waits(limit)
    const wait = Math.max(rules_ms, lock_ms)
    return wait > 0 ? { granted: false, retry_after_ms: wait } : GRANTED
  }

  return {
    peek,
    waits,
    async take(limit) {
      if (limit.rules.length === 0) return GRANTED
      if (!knownKeys.get(limit.key) && (await insertFirst(limit))) return GRANTED
      const taken = await updateCounter(limit)
      if (!taken.granted) for (const name of windowsOf(limit)) fullWindows.set(name, true)
      return taken
    },
    async giveBack(limit) {
      if (limit.rules.length > 0) await giveBackBatched(limit)
    },
    wasFull: limit => windowsOf(limit).some(fullWindows.get),
    async peekAgain(limit) {
      const taken = await peek(limit)
      if (taken.granted) for (const name of windowsOf(limit)) fullWindows.delete(name)
      return taken
    },
    async lock({ key }, ms) {
      const until = clock.now() + ms
      const update = { $max: { locked_until: until }, $set: { purge_at: new Date(until + ms) } }
      await counters.update([{ ids: [key], update }])
    },
  }
}

const windowsOf = ({ key, rules }: Limit): string[] => rules.map(rule => `${key} ${windowName(rule)}`)
