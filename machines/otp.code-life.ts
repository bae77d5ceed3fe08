// How long a code is valid: the app's `code.ttl_seconds` from its latest send, with a limit from the first one. In: the times of a
// verification. Out: when it expires, and whether it has.
import { MINUTE_MS, SECOND_MS } from '../infra/time.ts'
import type { Otp, SavedStatus } from './otp.ts'
import { MAX_CODE_TTL_SECONDS } from './settings.ts'

/** A code expires at the latest this many lifetimes after the first send, however often it is resent. */
const MAX_LIFETIMES = 3

/** How long the code of a message is valid is up to the caller who made it. After this time it is no longer worth sending. */
export const MESSAGE_LIFE_MS = 10 * MINUTE_MS

/** A code that its caller says is valid for less is worth sending for less. */
export const messageLifeMs = (code_life_ms = MESSAGE_LIFE_MS): number => Math.min(code_life_ms, MESSAGE_LIFE_MS)

/** No code lives longer, in any app. */
export const MAX_CODE_LIFE_MS = MAX_LIFETIMES * MAX_CODE_TTL_SECONDS * SECOND_MS

export const expiryAfterSend = (ttl_ms: number, first_sent_at: number, at: number): number =>
  Math.min(at + ttl_ms, first_sent_at + MAX_LIFETIMES * ttl_ms)

export const isLapsed = (otp: Pick<Otp, 'expires_at'>, at: number): boolean => at >= otp.expires_at

/** The status that callers see. A verification whose time is up is expired for them, even before the sweeper has saved that. */
export const statusAt = (value: SavedStatus, otp: Otp, at: number): SavedStatus =>
  value === 'pending' && isLapsed(otp, at) ? 'expired' : value
