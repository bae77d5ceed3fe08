// Questions about a verification at a moment. Time is an argument; nothing here changes anything.
import type { Completion, Otp, OtpStatus } from './otp.ts'

/** However often it is resent, a code never outlives this many lifetimes. */
const MAX_LIFETIMES = 3

export const isLapsed = (otp: Otp, at: number): boolean => at >= otp.expires_at

/** What a reader sees: the clock decides, whether or not the sweeper has been by. */
export const statusAt = (value: OtpStatus, otp: Otp, at: number): OtpStatus =>
  value === 'pending' && isLapsed(otp, at) ? 'expired' : value

export const completionOf = (otp: Otp): Completion =>
  otp.link !== null && otp.whatsapp === 'link_inbound' ? 'inbound' : 'code'

export const attemptsLeft = (otp: Otp): number => Math.max(0, otp.rules.verify_attempts - otp.wrong_codes)

export const sendsLeft = (otp: Otp): number => Math.max(0, otp.rules.send_attempts - otp.sends)

/** When the cooldown after the latest send ends. */
export function cooldownEndsAt(otp: Otp): number {
  const { cooldowns_ms } = otp.rules
  const cooldown = cooldowns_ms[Math.min(otp.sends, cooldowns_ms.length) - 1] ?? 0
  return otp.last_sent_at + cooldown
}

/** Null when no resend is left. */
export const resendAt = (value: OtpStatus, otp: Otp, at: number): number | null =>
  statusAt(value, otp, at) === 'pending' && sendsLeft(otp) > 0 ? cooldownEndsAt(otp) : null

export const expiryAfterSend = (ttl_ms: number, first_sent_at: number, at: number): number =>
  Math.min(at + ttl_ms, first_sent_at + MAX_LIFETIMES * ttl_ms)

/** A token can be exchanged only while it is young, and by one key. */
export const isExchangeable = (otp: Otp, key_id: string, at: number): boolean =>
  otp.approval?.by?.kind === 'publishable' &&
  at < otp.approval.at + otp.rules.token_ttl_ms &&
  (otp.exchange === null || otp.exchange.key_id === key_id)
