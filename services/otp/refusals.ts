// The refusals of the OTP actor. The error type is part of the API; the sentence is for the developer who reads it.
import type { LimitScope, Refusal } from '../../machines/calls.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { Reply } from '../../machines/otp.ts'

export const refusal = (error: ErrorType, detail: string, extra: Partial<Refusal> = {}): Refusal => ({
  kind: 'refused',
  error,
  detail,
  ...extra,
})

export const notFoundRefusal = (): Refusal => refusal('OtpNotFoundError', 'There is no such verification for this key.')

export const geoBlockedRefusal = (country: string | null): Refusal =>
  refusal('GeoBlockedError', `Numbers of ${country ?? 'no country'} are not served by this app.`)

export const abusiveAddressRefusal = (): Refusal =>
  refusal('IpReputationBlockedError', 'The client address is on a list of abusive addresses.')

const LIMIT_DETAILS: Record<LimitScope, string> = {
  recipient: 'Too many verifications for this recipient.',
  client_ip: 'Too many verifications from this client address.',
  client_ip_reputation:
    'Too many verifications from this client address, which belongs to a VPN, proxy, Tor exit or datacenter.',
  app: 'Too many verifications by this app.',
  app_without_client_ip: 'Too many verifications by this app without a usable client_ip.',
  recipient_verify: 'Too many wrong codes for this recipient.',
  resend_cooldown: 'The verification was sent a moment ago.',
  fraud_guard: 'Text messages to numbers like this one are limited: too many of them are never verified.',
  spend_cap: "What this app may spend on the recipient's country today is spent.",
}

export const limitRefusal = (scope: LimitScope, retry_after_ms: number): Refusal =>
  refusal('RateLimitExceededError', LIMIT_DETAILS[scope], { scope, retry_after_ms })

const ERROR_DETAILS: Partial<Record<ErrorType, string>> = {
  ResendNotAllowedError:
    'It is no longer pending, its send attempts are spent, or no enabled channel is left for the recipient.',
  OtpExpiredError: 'The verification has expired. Start a new one.',
  VerifyNotAllowedError:
    'This verification is approved by a WhatsApp message, or was started on a device and is proved by exchange.',
}

/** A refusal by the machine, with its sentence. */
export function refusalFromReply(reply: Extract<Reply, { kind: 'refused' }>): Refusal {
  const { error, retry_after_ms = 0, otp_status } = reply
  if (error === 'ResendCooldownError')
    return refusal(error, LIMIT_DETAILS.resend_cooldown, { scope: 'resend_cooldown', retry_after_ms })
  if (error === 'RateLimitExceededError') return limitRefusal('recipient_verify', retry_after_ms)
  if (error === 'OtpNotPendingError')
    return refusal(error, `The verification is ${otp_status}.`, { ...(otp_status && { otp_status }) })
  return refusal(error, ERROR_DETAILS[error] ?? 'The verification does not allow this.')
}
