// Counting what was counted before. In: many who ask for one more of many things. Out: for each, whether it was granted. All that is
// asked in one tick is one update of each thing, those go in one write, and their answers are read in one go: a command of its own for
// each costs the engine more than all the rest of a send.
//
// An update answers nothing, so it leaves its answer in the document, under the name of the process: one process has at most one
// update of a thing under way.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../infra/clock.ts'
import { gatherByKey } from '../../infra/gather.ts'
import type { CounterDoc, Grant } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Counted, Taken } from './limits.ts'
import { grant, uncounted, waitFor } from './windows.ts'

export interface GrantParts {
  /** Grouped: what is asked of it in one tick goes together. */
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert' | 'change'>
  clock: Pick<Clock, 'now'>
}

const GRANTED: Taken = { granted: true }
const ONE_BY_ONE = { most: 10_000, parallel: 1 }
const MOST_TRIES = 5

export function granting({ counters, clock }: GrantParts): (counted: Counted) => Promise<Taken> {
  const by = randomBytes(6).toString('base64url')
  let calls = 0

  /** All of one thing, under the same rules. */
  async function grantMany(asks: readonly Counted[]): Promise<Taken[]> {
    const { key, rules } = asks[0] as Counted
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const now = clock.now()
      calls += 1
      const call = { by, call: calls }
      const [answer] = await counters.change([{ _id: key, update: grant(rules, asks.length, now, call) }])
      const after = answer === 'won' ? (await counters.get([key])).get(key) : undefined
      const mine = after?.grants?.find(one => isSame(one, call))
      if (after && mine)
        return asks.map((_, at) =>
          at < mine.granted ? GRANTED : { granted: false, retry_after_ms: waitFor(after.windows, rules, now) },
        )
      // Never counted, or purged, or erased. (Or so many processes asked meanwhile that the answer is gone: then it counts twice.)
      if (!after) await counters.insert([{ _id: key, ...uncounted(rules, now) }])
    }
    throw new Unavailable('too many changes of one counter at once')
  }

  /** One thing can be asked for under different rules (a reputation's share of the same limit): one after the other. */
  async function grantAll(asks: Counted[]): Promise<Taken[]> {
    const groups = new Map<string, Counted[]>()
    for (const ask of asks) {
      const name = JSON.stringify(ask.rules)
      groups.set(name, [...(groups.get(name) ?? []), ask])
    }
    const answers = new Map<Counted, Taken>()
    for (const group of groups.values()) {
      const taken = await grantMany(group)
      for (const [at, ask] of group.entries()) answers.set(ask, taken[at] as Taken)
    }
    return asks.map(ask => answers.get(ask) as Taken)
  }

  const ask = gatherByKey(({ key }: Counted) => key, grantAll, ONE_BY_ONE)
  // One's own, since two who ask may hand in the same.
  return counted => ask({ ...counted })
}

const isSame = (grant: Grant, { by, call }: Pick<Grant, 'by' | 'call'>): boolean =>
  grant.by === by && grant.call === call
