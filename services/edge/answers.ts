// In: what the OTP actor answered. Out: the response's body, opened for the caller, or the refusal as a problem.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { httpException, type Problem, problem } from '../../infra/http/problem.ts'
import { atRest, inFlight } from '../../infra/otps/sealing.ts'
import type { OtpAnswer, Refusal, VerificationView } from '../../machines/calls.ts'
import type { Exchanged, Verification, Verified } from './schemas.answers.ts'

type Opener = Pick<Keyring, 'unseal'>

export const answering =
  (keyring: Opener) =>
  (answer: OtpAnswer): Verification | Verified | Exchanged => {
    switch (answer.kind) {
      case 'verification':
        return openVerification(keyring, answer.verification)
      case 'verified':
        return {
          otp_id: answer.otp_id,
          status: answer.status,
          matched: answer.matched,
          attempts_left: answer.attempts_left,
          verification_token: answer.sealed_token === null ? null : keyring.unseal(answer.sealed_token, inFlight.token),
        }
      case 'exchanged':
        return {
          otp_id: answer.otp_id,
          recipient: keyring.unseal(answer.sealed_recipient, inFlight.recipient),
          recipient_type: answer.recipient_type,
          channel: answer.channel,
          verified_at: iso(answer.verified_at),
        }
      case 'refused':
        throw refusal(answer)
      case 'no_such_token':
        throw httpException(404, 'This verification token cannot be exchanged. Start a new verification.')
      // It broke; or another release answered what this one does not know.
      default:
        throw new Error('the OTP actor did not answer this call')
    }
  }

export const openVerification = (keyring: Opener, view: VerificationView): Verification => ({
  otp_id: view.otp_id,
  status: view.status,
  channel: view.channel,
  masked_recipient: view.masked_recipient,
  action_url: view.sealed_action_url === null ? null : keyring.unseal(view.sealed_action_url, atRest.link(view.otp_id)),
  completion: view.completion,
})

export const iso = (at: number): string => new Date(at).toISOString()

const RETRY_SOON_SECONDS = 1

function refusal({ error, detail, scope, retry_after_ms, otp_status }: Refusal): Problem {
  const seconds = retry_after_ms === undefined ? undefined : Math.max(1, Math.ceil(retry_after_ms / 1000))
  const wait = seconds ?? (error === 'ServiceUnavailableError' ? RETRY_SOON_SECONDS : undefined)
  return problem(error, {
    detail,
    members: {
      ...(scope === undefined ? {} : { scope }),
      ...(seconds === undefined ? {} : { retry_after: seconds }),
      ...(otp_status === undefined ? {} : { otp_status }),
    },
    ...(wait === undefined ? {} : { headers: { 'Retry-After': String(wait) } }),
  })
}
