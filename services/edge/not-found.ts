// One answer for an unknown verification, for one of another app and for a text that is no id, so that a caller cannot tell which it is.
import type { Problem } from '../../infra/http/problem.ts'
import { problem } from '../domain/errors.ts'

export const otpNotFound = (): Problem =>
  problem('OtpNotFoundError', { detail: 'There is no such verification for this key.' })
