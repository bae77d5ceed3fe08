// A refusal in words. The name is the contract, the sentence is for people.
import type { LimitScope, Refusal } from '../../machines/calls.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { Reply } from '../../machines/otp.ts'

export const refused = (error: ErrorType, detail: string, more: Partial<Refusal> = {}): Refusal => ({
  kind: 'refused',
  error,
  detail,
  ...more,
})

export const notFound = (): Refusal => refused('OtpNotFoundError', 'There is no such verification for this key.')

export const geoBlocked = (country: string | null): Refusal =>
  refused('GeoBlockedError', `Numbers of ${country ?? 'no country'} are not served by this app.`)

export const abusiveAddress = (): Refusal =>
  refused('IpReputationBlockedError', 'The client address is on a list of abusive addresses.')

const SCOPES: Record<LimitScope, string> = {
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

export const limited = (scope: LimitScope, retry_after_ms: number): Refusal =>
  refused('RateLimitExceededError', SCOPES[scope], { scope, retry_after_ms })

const SAYINGS: Partial<Record<ErrorType, string>> = {
  ResendNotAllowedError:
    'It is no longer pending, its send attempts are spent, or no enabled channel is left for the recipient.',
  OtpExpiredError: 'The verification has expired. Start a new one.',
  VerifyNotAllowedError:
    'This verification is approved by a WhatsApp message, or was started on a device and is proved by exchange.',
}

/** What the machine refused. */
export function refusalOf(reply: Extract<Reply, { kind: 'refused' }>): Refusal {
  const { error, retry_after_ms = 0, otp_status } = reply
  if (error === 'ResendCooldownError')
    return refused(error, SCOPES.resend_cooldown, { scope: 'resend_cooldown', retry_after_ms })
  if (error === 'RateLimitExceededError') return limited('recipient_verify', retry_after_ms)
  if (error === 'OtpNotPendingError')
    return refused(error, `The verification is ${otp_status}.`, { ...(otp_status && { otp_status }) })
  return refused(error, SAYINGS[error] ?? 'The verification does not allow this.')
}
