// One answer for a verification that is unknown, another's, or no id at all: nobody can tell which.
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from '../domain/errors.ts'

export const otpNotFound = (): Problem =>
  problem('OtpNotFoundError', { detail: 'There is no such verification for this key.' })
