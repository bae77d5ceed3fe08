// Limits shared by every process. In: a thing that is counted and its rules. Out: granted, or how long to wait.
// Checking and counting are one atomic update, so parallel calls never pass together where only one of them may.
import { gatherByKey } from '../../../infra/gather.ts'
import { carryOver } from '../../domain/verifications/counting.ts'
import { bounded } from '../bounded.ts'
import { type GrantParts, granting } from './grants.ts'
import { type Counted, firstGrant, type Taken, uncount, waitFor } from './windows.ts'

export interface Limits {
  /** Counts one, if every rule allows it. */
  take(counted: Counted): Promise<Taken>
  /** Uncounts one that was granted and came to nothing. */
  giveBack(counted: Counted): Promise<void>
  /** Whether one more would be granted and nothing locks it; counts nothing. */
  look(counted: Counted): Promise<Taken>
  /** The same for what was refused lately; what was not is granted unseen. */
  lookAgain(counted: Counted): Promise<Taken>
  /** Refuses every `look` for so long, whatever the windows say. */
  lock(counted: Counted, ms: number): Promise<void>
}

const GRANTED: Taken = { granted: true }
const MOST_KNOWN = 20_000

export function limits({ counters, clock }: GrantParts): Limits {
  const known = bounded<true>(MOST_KNOWN)
  const full = bounded<true>(MOST_KNOWN)

  /** Most recipients are counted for the first time, and an insert costs a tenth of an update that computes: it goes together with
   *  those of others. What is there already, or allows none, is for the update. */
  async function takeFirst({ key, formerly = [], rules }: Counted): Promise<boolean> {
    if (known.get(key)) return false
    const carried = formerly.length > 0 && (await carryOver(counters, [{ key, formerly }])).has(key)
    const first = carried ? null : firstGrant(rules, clock.now())
    known.set(key, true)
    if (first === null) return false
    const [answer] = await counters.insert([{ _id: key, ...first }])
    return answer === 'inserted'
  }

  const takeAgain = granting({ counters, clock })

  /** All that is given back under the same rules in one tick shares one update, which makes it one statement. */
  const giveBackTogether = gatherByKey(
    ({ rules }: Counted) => JSON.stringify(rules),
    async all => {
      const update = uncount(all[0]?.rules ?? [], clock.now())
      return counters.change(all.map(({ key }) => ({ _id: key, update })))
    },
    { most: 500, parallel: 2 },
  )

  async function look({ key, formerly = [], rules }: Counted): Promise<Taken> {
    const names = [key, ...formerly]
    const found = await counters.get(names)
    const counter = names.flatMap(name => found.get(name) ?? [])[0]
    if (!counter) return GRANTED
    const now = clock.now()
    const wait = Math.max(waitFor(counter.windows, rules, now), (counter.locked_until ?? 0) - now)
    return wait > 0 ? { granted: false, retry_after_ms: wait } : GRANTED
  }

  return {
    look,
    async take(counted) {
      if (counted.rules.length === 0 || (await takeFirst(counted))) return GRANTED
      const taken = await takeAgain(counted)
      if (!taken.granted) full.set(counted.key, true)
      return taken
    },
    async giveBack(counted) {
      if (counted.rules.length > 0) await giveBackTogether(counted)
    },
    async lookAgain(counted) {
      if (!full.get(counted.key)) return GRANTED
      const taken = await look(counted)
      if (taken.granted) full.drop(counted.key)
      return taken
    },
    async lock({ key }, ms) {
      const until = clock.now() + ms
      const update = { $max: { locked_until: until }, $set: { purge_at: new Date(until + ms) } }
      await counters.change([{ _id: key, update }])
    },
  }
}
