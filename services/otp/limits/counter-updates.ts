// Counts on counters that exist. In: a request for one more under a limit. Out: whether it was granted. The requests of one tick become
// one update per counter; these updates go to the store in one write, and the counters are read back together. A write for each request
// would cost the engine more than the rest of a send.
//
// A batched update returns no value, so it stores its answer in the document, under the name of the process. That is enough, because a
// process has at most one update of a counter under way.
import { randomBytes } from 'node:crypto'
import { createKeyedBatcher } from '../../../infra/batcher.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { LOST, retryAfterLostRace } from '../../../infra/store/lost-race.ts'
import type { Limit } from '../../../machines/quotas.ts'
import { nearestUse, type RuleUse, waitFor } from '../../../machines/windows.ts'
import type { CounterDoc, Grant } from '../../domain/verifications/documents.ts'
import { emptyCounter, grantUpdate, type TakeResult } from './windows.ts'

export interface CounterUpdateDeps {
  /** Batched: the operations of one tick go together. */
  counters: Pick<Docs<CounterDoc>, 'get' | 'insert' | 'update'>
  clock: Pick<Clock, 'now'>
}

/** `otherKeys`: the former keys under which the counter exists too. What is granted must be counted under them as well. */
export type UpdateResult =
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
