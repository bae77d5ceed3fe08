// The refusal of a body or query that is not valid. In: every problem by its path. Out: the problem that the caller gets, with as many of them
// as help. Its `detail` says the first ones in words, for people who read a log.
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from './errors.ts'
import type { InputProblem } from './tenancy/problems.ts'

const MAX_IN_DETAIL = 10
/** Every member of a body may be a problem, and an answer of all of them would be many times as long as the body. */
const MAX_ERRORS = 100

export function validationProblem(errors: readonly InputProblem[]): Problem {
  const sentences = errors.slice(0, MAX_IN_DETAIL).map(({ path, message }) => `${path || 'The body'} ${message}`)
  const more = errors.length > MAX_IN_DETAIL ? [`and ${errors.length - MAX_IN_DETAIL} more`] : []
  return problem('ValidationError', {
    detail: [...sentences, ...more].join('; ').replace(/[^.?]$/, '$&.'),
    members: { errors: errors.slice(0, MAX_ERRORS) },
  })
}
