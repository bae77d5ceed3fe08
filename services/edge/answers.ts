// In: what the OTP actor answered. Out: the response's body, opened for the caller, or the refusal as a problem.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { isKeyProblem, KEY_AWAITED_MS, type TellUnopened } from '../../infra/crypto/unopened.ts'
import { httpException, type Problem } from '../../infra/http/problem.ts'
import type { OtpAnswer, Refusal, VerificationView } from '../../machines/calls.ts'
import { problem } from '../domain/errors.ts'
import { atRest, inFlight } from '../domain/verifications/sealing.ts'
import type { Exchanged, Verification, Verified } from './schemas.answers.ts'

export interface OpeningParts {
  keyring: Pick<Keyring, 'unseal'>
  unopened: TellUnopened
}

export const answering =
  ({ keyring, unopened }: OpeningParts) =>
  (answer: OtpAnswer): Verification | Verified | Exchanged => {
    try {
      return opened(keyring, answer)
    } catch (error) {
      if (!isKeyProblem(error)) throw error
      const otp_id = answer.kind === 'verification' ? answer.verification.otp_id : undefined
      unopened(error, otp_id === undefined ? {} : { otp_id })
      // What is over is answered as it is: its link leads nowhere any more.
      if (answer.kind === 'verification' && answer.verification.status !== 'pending')
        return shown(answer.verification, null)
      throw refusal(LATER)
    }
  }

const LATER: Refusal = {
  ...{ kind: 'refused', error: 'ServiceUnavailableError', retry_after_ms: KEY_AWAITED_MS },
  detail: 'A key that the answer needs is not configured now. Ask again.',
}

function opened(keyring: Pick<Keyring, 'unseal'>, answer: OtpAnswer): Verification | Verified | Exchanged {
  switch (answer.kind) {
    case 'verification':
      return shown(answer.verification, linkOf(keyring, answer.verification))
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

const linkOf = (keyring: Pick<Keyring, 'unseal'>, { otp_id, sealed_action_url }: VerificationView): string | null =>
  sealed_action_url === null ? null : keyring.unseal(sealed_action_url, atRest.link(otp_id))

/** How a verification stands can be told without its link. */
export function withLinkIfOpen({ keyring, unopened }: OpeningParts, view: VerificationView): Verification {
  try {
    return shown(view, linkOf(keyring, view))
  } catch (error) {
    if (!isKeyProblem(error)) throw error
    unopened(error, { otp_id: view.otp_id })
    return shown(view, null)
  }
}

const shown = (view: VerificationView, action_url: string | null): Verification => ({
  otp_id: view.otp_id,
  status: view.status,
  channel: view.channel,
  masked_recipient: view.masked_recipient,
  action_url,
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
      ...(seconds === undefined || error === 'ServiceUnavailableError' ? {} : { retry_after: seconds }),
      ...(otp_status === undefined ? {} : { otp_status }),
    },
    ...(wait === undefined ? {} : { headers: { 'Retry-After': String(wait) } }),
  })
}
