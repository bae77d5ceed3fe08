// No change without its record: who, what, before, after. The record is written first, as `begun`, and completed afterwards. A
// crash in between leaves a record of what may have happened, never a change nobody knows of.
//
// A change is a plan made from what is stored now. When somebody else was faster, another plan is made, and the record follows it.
import type { Clock } from '../../infra/clock.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { AuditDoc } from '../domain/audit.ts'
import { problem } from '../domain/errors.ts'

/** `before` and `after` hold what people may read: fingerprints of secrets, never keys. */
export interface Change<T> extends Pick<AuditDoc, 'action' | 'target' | 'company_id' | 'before' | 'after'> {
  /** Null when it was overtaken and changed nothing. */
  perform(): Promise<T | null>
}

/** Everything is as wanted already: nothing to do, nothing to record. */
export interface Unchanged<T> {
  unchanged: T
}

export type WithAudit = <T>(
  ctx: { state: { who?: unknown } },
  plan: () => Promise<Change<T> | Unchanged<T>> | Change<T> | Unchanged<T>,
) => Promise<T>

export interface AuditingDeps {
  audit: Pick<Docs<AuditDoc>, 'modify'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

const MAX_TRIES_AFTER_LOST_RACE = 20

export const createWithAudit =
  ({ audit, clock, log }: AuditingDeps): WithAudit =>
  async (ctx, plan) => {
    const _id = newId('aud', clock.now())
    const who = String(ctx.state.who)
    let recorded = false

    const begin = async (fields: Omit<AuditDoc, '_id' | 'at' | 'who' | 'outcome'>): Promise<void> => {
      await audit.modify({ _id }, { $set: { at: clock.now(), who, ...fields, outcome: 'begun' } }, { upsert: true })
      recorded = true
    }
    const complete = async (outcome: 'done' | 'undone'): Promise<void> => {
      if (!recorded) return
      // The change is what it is: an answer that a key was made must not fail for want of this word.
      await audit.modify({ _id }, { $set: { outcome } }).catch(error => {
        log.warn({ err: error, audit_id: _id }, 'audit.left_begun')
      })
    }
    /** A plan that finds nothing to do, or must refuse, leaves nothing changed. */
    const makePlan = async () => {
      try {
        return await plan()
      } catch (refusal) {
        await complete('undone')
        throw refusal
      }
    }

    for (let race = 0; race < MAX_TRIES_AFTER_LOST_RACE; race += 1) {
      const change = await makePlan()
      if ('unchanged' in change) {
        await complete('undone')
        return change.unchanged
      }
      const { perform, action, target, company_id, before, after } = change
      await begin({ action, target, company_id, before, after })
      const result = await perform()
      if (result !== null) {
        await complete('done')
        return result
      }
    }
    await complete('undone')
    throw problem('ServiceUnavailableError', { detail: 'It keeps being changed by others. Nothing was changed.' })
  }
