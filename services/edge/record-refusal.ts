// Hands what the edge itself refuses of sends and resends to the record of refusals: a body or an idempotency key that
// is not valid, a page or a publishable key that may not send, an overload. In: the caller's key, the request's id and
// the error. Out: a record. Its recipient is not known: most of these refusals come before the body is read.
import { CallTimeout } from '../../infra/broker/broker.ts'
import { asProblem } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import { isErrorType } from '../domain/errors.ts'
import type { NewRefusal, RefusalLog } from '../domain/refusals/refusal-log.ts'

export const createRecordRefusal =
  (refusals: Pick<RefusalLog, 'record'>, call: NewRefusal['call']) =>
  (by: Identity, request_id: string, error: unknown): void => {
    const { type, status } = asProblem(error)
    // A bug is not a refusal. A call that the OTP actor did not answer in time may still be executed, so the actor counts it.
    if (status === 500 || error instanceof CallTimeout) return
    refusals.record({
      by,
      call,
      request_id,
      type: isErrorType(type) ? type : 'HTTPException',
      scope: null,
      recipient: null,
    })
  }
