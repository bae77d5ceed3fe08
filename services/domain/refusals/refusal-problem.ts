// In: a refusal of the OTP actor. Out: the problem that its caller gets.
import type { Problem } from '../../../infra/http/problem.ts'
import { isoTime } from '../../../infra/iso-time.ts'
import type { Refusal } from '../../../machines/calls.ts'
import { problem } from '../errors.ts'

export function refusalProblem({
  error,
  detail,
  scope,
  retry_after_ms,
  executed,
  otp_status,
  cause,
  challenge,
  channels,
}: Refusal): Problem {
  const seconds = retry_after_ms === undefined ? undefined : Math.max(1, Math.ceil(retry_after_ms / 1000))
  return problem(error, {
    detail,
    members: {
      ...(scope === undefined ? {} : { scope }),
      ...(seconds === undefined || error === 'ServiceUnavailableError' ? {} : { retry_after: seconds }),
      ...(executed === undefined ? {} : { executed }),
      ...(otp_status === undefined ? {} : { otp_status }),
      ...(cause === undefined ? {} : { cause }),
      ...(challenge === undefined ? {} : { challenge: { ...challenge, expires_at: isoTime(challenge.expires_at) } }),
      ...(channels === undefined ? {} : { channels }),
    },
    ...(seconds === undefined ? {} : { headers: { 'Retry-After': String(seconds) } }),
  })
}
