// Limits shared by every process. In: a thing that is counted and its rules. Out: granted, or how long to wait.
// Checking and counting are one atomic update, so parallel calls never pass together where only one of them may.
import type { Clock } from '../../infra/clock.ts'
import { gatherByKey } from '../../infra/gather.ts'
import { carryOver } from '../../infra/otps/counting.ts'
import type { CounterDoc } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { LimitRule } from '../../machines/settings.ts'
import { firstGrant, grant, uncount, waitFor } from './windows.ts'

export interface Counted {
  /** What is counted: an app, a recipient of an app, an address of an app. */
  key: string
  /** Its names under other data keys: while keys rotate, what was counted there counts on. */
  formerly?: readonly string[]
  rules: readonly LimitRule[]
}

export type Taken = { granted: true } | { granted: false; retry_after_ms: number }

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
const MOST_AT_ONCE = 10_000
const MOST_KNOWN = 10_000

export function limits({ counters, clock }: { counters: Docs<CounterDoc>; clock: Pick<Clock, 'now'> }): Limits {
  const known = recent(MOST_KNOWN)
  const full = recent(MOST_KNOWN)

  /** Most recipients are counted for the first time, and an insert costs a tenth of an update that computes: it goes together with
   *  those of others. What is there already, or allows none, is for the update. */
  async function takeFirst({ key, formerly = [], rules }: Counted): Promise<boolean> {
    if (known.has(key)) return false
    const carried = formerly.length > 0 && (await carryOver(counters, [{ key, formerly }])).has(key)
    const first = carried ? null : firstGrant(rules, clock.now())
    known.add(key)
    if (first === null) return false
    const [answer] = await counters.insert([{ _id: key, ...first }])
    return answer === 'inserted'
  }

  const takeMany = async (asks: Counted[]): Promise<Taken[]> => {
    const { key, rules } = asks[0] as Counted
    const now = clock.now()
    const after = await counters.modify({ _id: key }, grant(rules, asks.length, now), { upsert: true })
    const granted = after?.granted ?? 0
    if (granted < asks.length) full.add(key)
    return asks.map((_, at) =>
      at < granted ? GRANTED : { granted: false, retry_after_ms: waitFor(after?.windows ?? {}, rules, now) },
    )
  }
  // A busy key (an app's) is updated once for everyone who waits, a quiet one (a recipient's) at once. One key can be asked under
  // different rules (a reputation's share of the same limit): those are apart.
  const takeTogether = gatherByKey(({ key, rules }: Counted) => JSON.stringify([key, rules]), takeMany, {
    most: MOST_AT_ONCE,
    parallel: 1,
  })

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
      return counted.rules.length === 0 || (await takeFirst(counted)) ? GRANTED : takeTogether(counted)
    },
    async giveBack({ key, rules }) {
      if (rules.length > 0) await counters.modify({ _id: key }, uncount(rules, clock.now()))
    },
    async lookAgain(counted) {
      if (!full.has(counted.key)) return GRANTED
      const taken = await look(counted)
      if (taken.granted) full.drop(counted.key)
      return taken
    },
    async lock({ key }, ms) {
      const until = clock.now() + ms
      await counters.modify({ _id: key }, { $max: { locked_until: until }, $set: { purge_at: new Date(until + ms) } })
    },
  }
}

/** The latest so many of what was added. */
function recent(most: number): { has(key: string): boolean; add(key: string): void; drop(key: string): void } {
  const keys = new Set<string>()
  return {
    has: key => keys.has(key),
    drop: key => void keys.delete(key),
    add(key) {
      keys.add(key)
      if (keys.size > most) keys.delete(keys.values().next().value as string)
    },
  }
}
