// Counting what was counted before. In: many who ask for one more of many things. Out: for each, whether it was granted. All that is
// asked in one tick is one update of each thing, those go in one write, and their answers are read in one go: a command of its own for
// each costs the engine more than all the rest of a send.
//
// An update answers nothing, so it leaves its answer in the document, under the name of the process: one process has at most one
// update of a thing under way.
import { randomBytes } from 'node:crypto'
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import type { CounterDoc, Grant } from '../../domain/verifications/documents.ts'
import type { Counted, TakeResult } from './windows.ts'
import { emptyCounter, grantUpdate, waitFor } from './windows.ts'

export interface CounterUpdateParts {
  /** Grouped: what is asked of it in one tick goes together. */
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert' | 'change'>
  clock: Pick<Clock, 'now'>
}

const GRANTED: TakeResult = { granted: true }
const ONE_UPDATE_AT_A_TIME = { maxSize: 10_000, parallel: 1 }
const MAX_TRIES_AFTER_LOST_RACE = 5

export function createCounterUpdate({ counters, clock }: CounterUpdateParts): (limit: Counted) => Promise<TakeResult> {
  const by = randomBytes(6).toString('base64url')
  let calls = 0

  /** So many of one thing, under the same rules. */
  async function grantMany({ key, rules }: Counted, count: number): Promise<TakeResult[]> {
    for (let tries = 0; tries < MAX_TRIES_AFTER_LOST_RACE; tries += 1) {
      const now = clock.now()
      calls += 1
      const call = { by, call: calls }
      const [answer] = await counters.change([{ _id: key, update: grantUpdate(rules, count, now, call) }])
      const after = answer === 'won' ? (await counters.get([key])).get(key) : undefined
      const ownGrant = after?.grants?.find(one => isOfCall(one, call))
      if (after && ownGrant) {
        const refused: TakeResult = { granted: false, retry_after_ms: waitFor(after.windows, rules, now) }
        return Array.from({ length: count }, (_, nth) => (nth < ownGrant.granted ? GRANTED : refused))
      }
      // Never counted, or purged, or erased. (Or so many processes asked meanwhile that the answer is gone: then it counts twice.)
      if (!after) await counters.insert([{ _id: key, ...emptyCounter(rules, now) }])
    }
    throw new Unavailable('too many changes of one counter at once')
  }

  /** One thing can be asked for under different rules (a reputation's share of the same limit): one after the other. */
  async function grantAll(requests: Counted[]): Promise<TakeResult[]> {
    const answers: TakeResult[] = []
    for (const { limit, positions } of byRules(requests)) {
      const taken = await grantMany(limit, positions.length)
      for (const [nth, position] of positions.entries()) answers[position] = taken[nth] as TakeResult
    }
    return answers
  }

  return createKeyedBatcher(({ key }: Counted) => key, grantAll, ONE_UPDATE_AT_A_TIME)
}

/** Those that ask alike, by their places. */
function byRules(requests: readonly Counted[]): { limit: Counted; positions: number[] }[] {
  const groups = new Map<string, { limit: Counted; positions: number[] }>()
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
