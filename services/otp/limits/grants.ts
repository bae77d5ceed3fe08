// Counting what was counted before. In: many who ask for one more of many things. Out: for each, whether it was granted. All that is
// asked in one tick is one update of each thing, those go in one write, and their answers are read in one go: a command of its own for
// each costs the engine more than all the rest of a send.
//
// An update answers nothing, so it leaves its answer in the document, under the name of the process: one process has at most one
// update of a thing under way.
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../infra/clock.ts'
import { gatherByKey } from '../../../infra/gather.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CounterDoc, Grant } from '../../domain/verifications/documents.ts'
import type { Counted, Taken } from './windows.ts'
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

  /** So many of one thing, under the same rules. */
  async function grantMany({ key, rules }: Counted, many: number): Promise<Taken[]> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const now = clock.now()
      calls += 1
      const call = { by, call: calls }
      const [answer] = await counters.change([{ _id: key, update: grant(rules, many, now, call) }])
      const after = answer === 'won' ? (await counters.get([key])).get(key) : undefined
      const mine = after?.grants?.find(one => isSame(one, call))
      if (after && mine) {
        const refused: Taken = { granted: false, retry_after_ms: waitFor(after.windows, rules, now) }
        return Array.from({ length: many }, (_, nth) => (nth < mine.granted ? GRANTED : refused))
      }
      // Never counted, or purged, or erased. (Or so many processes asked meanwhile that the answer is gone: then it counts twice.)
      if (!after) await counters.insert([{ _id: key, ...uncounted(rules, now) }])
    }
    throw new Unavailable('too many changes of one counter at once')
  }

  /** One thing can be asked for under different rules (a reputation's share of the same limit): one after the other. */
  async function grantAll(asks: Counted[]): Promise<Taken[]> {
    const answers: Taken[] = []
    for (const { counted, places } of byRules(asks)) {
      const taken = await grantMany(counted, places.length)
      for (const [nth, place] of places.entries()) answers[place] = taken[nth] as Taken
    }
    return answers
  }

  return gatherByKey(({ key }: Counted) => key, grantAll, ONE_BY_ONE)
}

/** Those that ask alike, by their places. */
function byRules(asks: readonly Counted[]): { counted: Counted; places: number[] }[] {
  const groups = new Map<string, { counted: Counted; places: number[] }>()
  for (const [place, counted] of asks.entries()) {
    const name = JSON.stringify(counted.rules)
    const group = groups.get(name)
    if (group) group.places.push(place)
    else groups.set(name, { counted, places: [place] })
  }
  return [...groups.values()]
}

const isSame = (grant: Grant, { by, call }: Pick<Grant, 'by' | 'call'>): boolean =>
  grant.by === by && grant.call === call
