// One answer for a verification that is unknown, another's, or no id at all: nobody can tell which.
import { type Problem, problem } from '../../infra/http/problem.ts'

export const otpNotFound = (): Problem =>
  problem('OtpNotFoundError', { detail: 'There is no such verification for this key.' })
