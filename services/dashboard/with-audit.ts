// Makes a change and writes its audit record: the operator, the action, and what it changes, before and after. The
// record is written before the change, as `begun`, and completed after it. A crash in between leaves a record of a
// change that may have happened, never a change without a record. In: a function that plans the change from the stored
// documents. Out: the result of the change. After a lost race with another request, the change is planned again, and
// its record is rewritten.
import type { Clock } from '../../infra/clock.ts'
import { eventLoop } from '../../infra/event-loop.ts'
import { httpException } from '../../infra/http/problem.ts'
import { newId } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { LOST, retryAfterLostRace, TooManyRaces } from '../../infra/store/lost-race.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import type { AuditDoc } from '../domain/audit.ts'
import { problem } from '../domain/errors.ts'
import { type Company, isClosed } from '../domain/tenancy/documents.ts'
import { type AdminRequest, principalOf } from './access.ts'
import { stateForAudit, statesForAudit } from './audit-states.ts'

/** `before` and `after` are the complete states, of which the record keeps what differs (audit-states.ts). They are
 *  shown to operators: they hold fingerprints of secrets, never secrets or keys. */
export interface Change<T> extends Pick<AuditDoc, 'action' | 'target' | 'company_id' | 'before' | 'after'> {
  /** Null after a lost race, when nothing was changed. Throws NotMade when nothing was changed for another reason;
   *  after any other error the record stays `begun`. */
  perform(): Promise<T | null>
  /** In place of `after`, once the change is made: for what is known only then. */
  recordResult?(result: T): unknown
}

/** The change is known not to be made. In: the error that the request is answered with. */
export class NotMade extends Error {
  readonly answer: Error
  constructor(answer: Error) {
    super(answer.message)
    this.answer = answer
  }
}

/** The stored documents are as requested: there is nothing to change and nothing to record. */
export interface Unchanged<T> {
  unchanged: T
}

export type WithAudit = <T>(
  request: AdminRequest,
  plan: () => Promise<Change<T> | Unchanged<T>> | Change<T> | Unchanged<T>,
) => Promise<T>

export interface WithAuditDeps {
  companies: Pick<Docs<Company>, 'get'>
  audit: Pick<Docs<AuditDoc>, 'modify'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

export const createWithAudit =
  ({ audit, companies, clock, log }: WithAuditDeps): WithAudit =>
  async (request, plan) => {
    const _id = newId('aud', clock.now())
    const { name: who, company_id: own } = principalOf(request)
    let recorded = false

    const begin = async (fields: Omit<AuditDoc, '_id' | 'at' | 'who' | 'outcome'>): Promise<void> => {
      await audit.modify({ _id }, { $set: { at: clock.now(), who, ...fields, outcome: 'begun' } }, { upsert: true })
      recorded = true
    }
    const complete = async (outcome: 'done' | 'undone', result: { after?: unknown } = {}): Promise<void> => {
      if (!recorded) return
      // The change is made already: the answer, which may hold a new key, must not fail because the record cannot be completed.
      await audit.modify({ _id }, { $set: { outcome, ...result } }).catch(error => {
        log.warn({ request_id: request.state.requestId, audit_id: _id, err: error }, 'audit.completion_failed')
      })
    }
    /** Operators may: they can reopen it. Users sign in and out, to do what is allowed. */
    const requireOpenCompany = async (action: string): Promise<void> => {
      if (own === null || request.state.allowedWhenClosed || action.startsWith('session.')) return
      if (!isClosed(await getOne(companies, own))) return
      await complete('undone')
      throw httpException(409, 'The company is closed: nothing of it is changed, except that people are erased.')
    }
    /** A planning function that throws has refused the request: nothing was changed. */
    const makePlan = async () => {
      try {
        return await plan()
      } catch (refusal) {
        await complete('undone')
        throw refusal
      }
    }

    return retryAfterLostRace(`what ${_id} changes`, async () => {
      const change = await makePlan()
      if ('unchanged' in change) {
        await complete('undone')
        return change.unchanged
      }
      const { perform, recordResult, action, target, company_id, before, after } = change
      await requireOpenCompany(action)
      // Planning and shortening may each hold the event loop for a while.
      await eventLoop.turn()
      const states = statesForAudit({ before, after })
      await eventLoop.turn()
      await begin({ action, target, company_id, ...states })
      const result = await perform().catch(async error => {
        if (!(error instanceof NotMade)) throw error
        await complete('undone')
        throw error.answer
      })
      if (result === null) return LOST
      await complete('done', recordResult ? { after: stateForAudit(recordResult(result)) } : {})
      return result
    }).catch(async error => {
      if (!(error instanceof TooManyRaces)) throw error
      await complete('undone')
      throw problem('ServiceUnavailableError', { detail: 'Other requests keep changing it. Nothing was changed.' })
    })
  }
