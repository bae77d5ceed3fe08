// The error that an answer means.
import * as errors from './errors.ts'
import type { ErrorType, Problem } from './types.ts'

/** The compiler compares the names of the classes with the OpenAPI document. */
const CLASSES: Record<ErrorType, typeof errors.CountersignError> = errors

/** The error that an answer means. `body`: its JSON, or undefined where a proxy answered with something else. */
export function answerError(status: number, headers: Headers, body: unknown): errors.CountersignError {
  const problem = (typeof body === 'object' && body !== null ? body : {}) as Partial<Problem>
  const type: string = problem.type ?? 'HTTPException'
  const kind = Object.hasOwn(CLASSES, type) ? CLASSES[type as ErrorType] : errors.CountersignError
  const waits = Number(problem.retry_after ?? headers.get('retry-after') ?? Number.NaN)
  return new kind(type, problem.detail ?? problem.title ?? `The server answered with ${status}.`, {
    status,
    executed: problem.executed ?? null,
    problem,
    request_id: problem.request_id ?? headers.get('x-request-id') ?? '',
    retry_after: Number.isFinite(waits) ? waits : null,
  })
}
