// Records the decisions of the fraud guard. In: a decision. Out: a document, written in the background, so that no send waits for it. In
// a flood, only a number of decisions per minute is recorded; the next one says how many were left out.
import { createBoundedMap } from '../../../infra/bounded-map.ts'
import type { Clock } from '../../../infra/clock.ts'
import { newId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { MINUTE_MS } from '../../../infra/time.ts'
import { createUnderWay } from '../../../infra/under-way.ts'
import type { DecisionDoc } from '../../domain/fraud/documents.ts'

export type NewDecision = Omit<DecisionDoc, '_id' | 'at' | 'unrecorded'>

export interface DecisionLog {
  /** `decisionKey` names the call. A call that is decided twice, as after a lost race, is recorded once. */
  record(decisionKey: string, decision: NewDecision): void
  settled(): Promise<void>
}

export interface DecisionLogDeps {
  decisions: Pick<Docs<DecisionDoc>, 'insert'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** For one app, in one process. */
export const MAX_DECISIONS_PER_MINUTE = 600
const MAX_APPS = 10_000
const MAX_RECENT_KEYS = 1_000

export function createDecisionLog({ decisions, clock, log }: DecisionLogDeps): DecisionLog {
  const apps = createBoundedMap<{ minute: number; kept: number; unrecorded: number }>(2 * MAX_APPS)
  const recentKeys = createBoundedMap<true>(2 * MAX_RECENT_KEYS)
  const writing = createUnderWay()

  /** How many decisions were left out before this one; null when this one is left out too. */
  function admitDecision(app_id: string): number | null {
    const minute = Math.floor(clock.now() / MINUTE_MS)
    const before = apps.get(app_id) ?? { minute, kept: 0, unrecorded: 0 }
    const now = before.minute === minute ? before : { ...before, minute, kept: 0 }
    apps.set(app_id, now)
    if (now.kept >= MAX_DECISIONS_PER_MINUTE) {
      now.unrecorded += 1
      return null
    }
    now.kept += 1
    const { unrecorded } = now
    now.unrecorded = 0
    return unrecorded
  }

  return {
    record(decisionKey, decision) {
      if (recentKeys.get(decisionKey)) return
      recentKeys.set(decisionKey, true)
      const unrecorded = admitDecision(decision.app_id)
      if (unrecorded === null) return
      const at = clock.now()
      writing.add(
        decisions
          .insert([{ _id: newId('frd', at), ...decision, at, unrecorded }])
          .catch(error => log.warn({ err: error, app_id: decision.app_id }, 'fraud.decision.lost')),
      )
    },
    settled: writing.settled,
  }
}
