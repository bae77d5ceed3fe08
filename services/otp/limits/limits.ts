// Limits shared by every process. In: a thing that is counted and its rules. Out: granted, or how long to wait.
// Checking and counting are one atomic update, so parallel calls never pass together where only one of them may.
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import { copyFormerCounters } from '../../domain/verifications/counter-names.ts'
import { createBoundedMap } from '../bounded-map.ts'
import { type CounterUpdateParts, createCounterUpdate } from './counter-updates.ts'
import { type Counted, firstCounter, type TakeResult, uncountUpdate, waitFor } from './windows.ts'

export interface Limits {
  /** Counts one, if every rule allows it. */
  take(limit: Counted): Promise<TakeResult>
  /** Uncounts one that was granted and came to nothing. */
  giveBack(limit: Counted): Promise<void>
  /** Whether one more would be granted and nothing locks it; counts nothing. */
  peek(limit: Counted): Promise<TakeResult>
  /** The same for what was refused lately; what was not is granted unseen. */
  peekIfRefusedBefore(limit: Counted): Promise<TakeResult>
  /** Refuses every `look` for so long, whatever the windows say. */
  lock(limit: Counted, ms: number): Promise<void>
}

const GRANTED: TakeResult = { granted: true }
const MAX_KNOWN_KEYS = 20_000

export function createLimits({ counters, clock }: CounterUpdateParts): Limits {
  const knownKeys = createBoundedMap<true>(MAX_KNOWN_KEYS)
  const refusedKeys = createBoundedMap<true>(MAX_KNOWN_KEYS)

  /** Most recipients are counted for the first time, and an insert costs a tenth of an update that computes: it goes together with
   *  those of others. What is there already, or allows none, is for the update. */
  async function insertFirst({ key, formerKeys = [], rules }: Counted): Promise<boolean> {
    if (knownKeys.get(key)) return false
    const copied = formerKeys.length > 0 && (await copyFormerCounters(counters, [{ key, formerKeys }])).has(key)
    const first = copied ? null : firstCounter(rules, clock.now())
    knownKeys.set(key, true)
    if (first === null) return false
    const [answer] = await counters.insert([{ _id: key, ...first }])
    return answer === 'inserted'
  }

  const updateCounter = createCounterUpdate({ counters, clock })

  /** All that is given back under the same rules in one tick shares one update, which makes it one statement. */
  const giveBackBatched = createKeyedBatcher(
    ({ rules }: Counted) => JSON.stringify(rules),
    async all => {
      const update = uncountUpdate(all[0]?.rules ?? [], clock.now())
      return counters.change(all.map(({ key }) => ({ _id: key, update })))
    },
    { maxSize: 500, parallel: 2 },
  )

  async function peek({ key, formerKeys = [], rules }: Counted): Promise<TakeResult> {
    const names = [key, ...formerKeys]
    const found = await counters.get(names)
    const counter = names.flatMap(name => found.get(name) ?? [])[0]
    if (!counter) return GRANTED
    const now = clock.now()
    const wait = Math.max(waitFor(counter.windows, rules, now), (counter.locked_until ?? 0) - now)
    return wait > 0 ? { granted: false, retry_after_ms: wait } : GRANTED
  }

  return {
    peek,
    async take(limit) {
      if (limit.rules.length === 0 || (await insertFirst(limit))) return GRANTED
      const taken = await updateCounter(limit)
      if (!taken.granted) refusedKeys.set(limit.key, true)
      return taken
    },
    async giveBack(limit) {
      if (limit.rules.length > 0) await giveBackBatched(limit)
    },
    async peekIfRefusedBefore(limit) {
      if (!refusedKeys.get(limit.key)) return GRANTED
      const taken = await peek(limit)
      if (taken.granted) refusedKeys.delete(limit.key)
      return taken
    },
    async lock({ key }, ms) {
      const until = clock.now() + ms
      const update = { $max: { locked_until: until }, $set: { purge_at: new Date(until + ms) } }
      await counters.change([{ _id: key, update }])
    },
  }
}
