// The refusals of the OTP actor. The error type is part of the API; the sentence is for the developer who reads it.
import type { LimitScope, Refusal } from '../../machines/calls.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { NotAllowedCause, OtpStatus, Reply } from '../../machines/otp.ts'
import type { LimitRule, RefusableNumberKind } from '../../machines/settings.ts'

export const refusal = (error: ErrorType, detail: string, extra: Partial<Refusal> = {}): Refusal => ({
  kind: 'refused',
  error,
  detail,
  ...extra,
})

export const expiredRefusal = (): Refusal =>
  refusal('ServiceUnavailableError', 'Its caller does not wait any longer. Nothing was executed.', { executed: false })

export const awayRefusal = (): Refusal =>
  refusal('ServiceUnavailableError', 'The database does not answer now. Nothing was executed.', { executed: false })

export const notFoundRefusal = (): Refusal => refusal('OtpNotFoundError', 'There is no such verification for this key.')

export const geoBlockedRefusal = (country: string | null): Refusal =>
  refusal(
    'GeoBlockedError',
    // Without a country: an email address, or a number of a satellite or an international network.
    country === null
      ? 'This recipient is not served by this app.'
      : `Numbers of ${country} are not served by this app.`,
  )

/** The recipient's own word, on every channel that could be used. */
export const recipientBlockedRefusal = (channels: Refusal['channels']): Refusal =>
  refusal(
    'RecipientBlockedError',
    'The recipient asked for no more messages (STOP), on every channel that could be used. They get messages again once they send START there.',
    channels && { channels },
  )

export const numberKindRefusal = (kind: RefusableNumberKind): Refusal =>
  refusal('InvalidRecipientError', `This app sends to no numbers of the kind ${kind}.`)

export const abusiveAddressRefusal = (): Refusal =>
  refusal('IpReputationBlockedError', 'The client address is on a list of abusive addresses.')

const LIMIT_DETAILS: Record<LimitScope, string> = {
  recipient: 'Too many verifications for this recipient.',
  client_ip: 'Too many verifications from this client address.',
  client_ip_reputation:
    'Too many verifications from this client address, which belongs to a VPN, proxy, Tor exit or datacenter.',
  app: 'Too many verifications by this app.',
  app_without_client_ip: 'Too many verifications by this app without a usable client_ip.',
  app_hooks: 'Too many codes of a login of this app, without the address of its user.',
  recipient_verify: 'Too many wrong codes for this recipient.',
  resend_cooldown: 'The verification was sent a moment ago.',
  fraud_guard: 'Messages to this number, or to numbers like it, are limited: too many of them are never verified.',
  spend_cap: "What this app may spend on the recipient's country today is spent.",
}

/** `rule`: the one that refuses, where the limit has such rules. */
export const limitRefusal = (scope: LimitScope, retry_after_ms: number, rule?: LimitRule): Refusal =>
  refusal('RateLimitExceededError', LIMIT_DETAILS[scope], {
    scope,
    retry_after_ms,
    ...(rule && { rule: { max: rule.max, seconds: rule.seconds } }),
  })

type RefusedReply = Extract<Reply, { kind: 'refused' }>

const STATUS_PHRASES: Record<OtpStatus, string> = {
  pending: 'is pending',
  approved: 'is approved',
  failed: 'has failed, because its attempts are used up',
  expired: 'has expired',
  canceled: 'was canceled',
}

const inStatus = ({ otp_status = 'pending' }: RefusedReply): string => STATUS_PHRASES[otp_status]

const CAUSE_DETAILS: Record<NotAllowedCause, (reply: RefusedReply) => string> = {
  not_pending: reply => `The verification ${inStatus(reply)}, and only a pending one can be resent.`,
  send_attempts_spent: () => 'All send attempts of this verification are spent. Start a new one.',
  no_usable_channel: () => 'No channel is left that is enabled, has a provider and can reach the recipient.',
  channel_disabled: ({ channel }) => `The channel ${channel} is not enabled in this app.`,
  channel_no_provider: ({ channel }) => `The channel ${channel} has no provider in this app.`,
  channel_no_provider_for_country: ({ channel }) =>
    `No provider of the channel ${channel} serves the country of this recipient.`,
  channel_provider_paused: ({ channel }) => `The providers of the channel ${channel} that could send are paused.`,
  channel_cannot_reach_recipient: ({ channel }) =>
    `The channel ${channel} cannot reach this recipient: email reaches an address, the other channels a phone number.`,
  channel_number_kind: ({ channel }) => `The app does not use the channel ${channel} for numbers of this kind.`,
  channel_code_too_long: ({ channel }) =>
    `The channel ${channel} takes codes of at most 8 digits, and those of this verification have more.`,
  channel_stopped_by_recipient: ({ channel }) =>
    `The recipient asked for no more messages on the channel ${channel}, and has to send START first.`,
  channel_no_business_number: ({ channel }) =>
    `The channel ${channel} needs a business number for its link, and this app has none.`,
  channel_not_provable_by_device: ({ channel }) =>
    `On the channel ${channel} a message would approve this verification, which a publishable key started and could not prove then.`,
  approved_by_message: () =>
    'This verification has no code: the message that the user sends by WhatsApp approves it. Ask for its status.',
  proved_by_exchange: () =>
    'A publishable key started this verification. Only its token proves it: verify with a publishable key, then exchange the token.',
}

/** A refusal by the machine, with its sentence. `rule`: of the limit that the machine was told of. */
export function refusalFromReply(reply: RefusedReply, rule?: LimitRule): Refusal {
  const { error, retry_after_ms = 0, otp_status, cause } = reply
  if (error === 'ResendCooldownError')
    return refusal(error, LIMIT_DETAILS.resend_cooldown, { scope: 'resend_cooldown', retry_after_ms })
  if (error === 'RateLimitExceededError') return limitRefusal('recipient_verify', retry_after_ms, rule)
  if (error === 'OtpNotPendingError')
    return refusal(error, `The verification ${inStatus(reply)}.`, { ...(otp_status && { otp_status }) })
  if (cause !== undefined)
    return refusal(error, CAUSE_DETAILS[cause](reply), { cause, ...(otp_status && { otp_status }) })
  if (error === 'OtpExpiredError') return refusal(error, 'The verification has expired. Start a new one.')
  return refusal(error, 'The verification does not allow this.')
}
