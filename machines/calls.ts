// The edge's calls to the OTP actor, and the actor's answers. Both travel through the broker, so secrets and personal data in them are
// sealed: every member whose name begins with `sealed_`.
import type { Challenge, CheckedToken } from './challenge.ts'
import type { AskedRoute, Channel, ChannelReason } from './channels.ts'
import type { ErrorType } from './errors.ts'
import type { Caller, Completion, Mode, NotAllowedCause, OtpStatus, SendText } from './otp.ts'
import type { LimitRule } from './settings.ts'

/** The API key that made the call, and its owner. */
export interface Identity extends Caller {
  company_id: string
  app_id: string
  mode: Mode
}

/** What a call claims, so that what comes twice is done once: an idempotency key, and what a message says, on their way
 *  to the OTP actor. */
export interface KeyedClaim {
  /** The keyed indexes of the key, one for each data key, in an order that does not depend on which data key is the
   *  current one. Empty for a message without one. */
  ids: string[]
  /** The key itself, by which it can be indexed under a new data key. Absent without one. */
  sealed_key?: string
  /** The claim of the key lives at least this long, also where `idempotency_ttl_seconds` is shorter. */
  min_life_ms?: number
  /** What a message contains. */
  content?: ContentClaim
}

/** By this a message is known that asks for the same code to the same recipient again. */
export interface ContentClaim {
  /** The keyed indexes of recipient and code together, ordered as those of a key. */
  ids: string[]
  life_ms: number
  /** The indexes of the idempotency key: a message with another key is another message. Absent where it has none, or where it does not
   *  matter. */
  keys?: string[]
}

export type OtpCall =
  | (AskedRoute & {
      type: 'otp.send'
      by: Identity
      /** The id of the new verification. It comes with the call, so that a call that is delivered twice makes one verification. */
      otp_id: string
      sealed_recipient: string
      locale: string | null
      /** Null when the address is absent, private or reserved. */
      sealed_client_ip: string | null
      /** The code that the caller made: then a message is made, and `otp_id` is its `msg_…`. Absent for a verification. */
      sealed_code?: string
      /** How long that code is valid, where the caller tells. */
      code_life_ms?: number
      /** A login asks for it, at a receiver of services/edge/hooks. */
      from_login?: true
      /** As JSON; absent without metadata. */
      sealed_metadata?: string
      /** Absent where the call names nothing. */
      text?: SendText
      /** The host of the page that sends with a publishable key; absent for other callers. */
      origin_host?: string
      /** Null when the call has no idempotency key. */
      claim: KeyedClaim | null
      /** While the recipient's latest verification is pending, the call joins that one instead of starting another. */
      reuse_pending?: true
      /** As the caller wrote it; absent where it brought none, and of server keys. It is no secret: it is good for this call alone. */
      challenge_solution?: string
      /** In place of a solution, where a vendor's widget is solved. */
      challenge_token?: CheckedToken
    })
  | {
      type: 'otp.resend'
      by: Identity
      otp_id: string
      channel: Channel | null
      /** As on send. */
      challenge_solution?: string
      challenge_token?: CheckedToken
    }
  | { type: 'otp.verify'; by: Identity; otp_id: string; sealed_code: string }
  /** `all`: for every id of the verification; a person of the company cancels so. */
  | { type: 'otp.cancel'; by: Identity; otp_id: string; all?: true }
  | { type: 'token.exchange'; by: Identity; sealed_token: string }

export type CallOf<Type extends OtpCall['type']> = Extract<OtpCall, { type: Type }>

/** The verification object of the public API, with its link still sealed. */
export interface VerificationView {
  otp_id: string
  /** The first id of the verification, to which its link is sealed; absent where it is `otp_id`. */
  first_id?: string
  status: OtpStatus
  channel: Channel
  masked_recipient: string
  sealed_action_url: string | null
  completion: Completion
}

export const LIMIT_SCOPES = [
  'recipient',
  'client_ip',
  'client_ip_reputation',
  'app',
  'app_without_client_ip',
  'app_hooks',
  'recipient_verify',
  'resend_cooldown',
  'fraud_guard',
  'spend_cap',
] as const
export type LimitScope = (typeof LIMIT_SCOPES)[number]

export interface Refusal {
  kind: 'refused'
  error: ErrorType
  detail: string
  scope?: LimitScope
  retry_after_ms?: number
  /** The rule of the limit that refuses, where it counts how many in how many seconds. */
  rule?: LimitRule
  /** Of `ServiceUnavailableError`, where that is certain. */
  executed?: false
  otp_status?: OtpStatus
  cause?: NotAllowedCause
  challenge?: Challenge
  /** Of `NoEnabledChannelError` to a server key. */
  channels?: { channel: Channel; reason: ChannelReason }[]
  /** Of `ValidationError`. */
  errors?: { path: string; message: string }[]
}

/** How far a limit is used, after a call that it granted. */
export interface LimitUse {
  scope: LimitScope
  max: number
  seconds: number
  remaining: number
  /** Until one more than now is allowed. */
  more_in_ms: number
}

export type OtpAnswer =
  | {
      kind: 'verification'
      verification: VerificationView
      /** The use of the limit nearest to its end; absent where none counted the call. */
      limit?: LimitUse
      /** True for a send where an earlier call with its idempotency key made the verification. */
      replayed?: true
    }
  | {
      kind: 'verified'
      otp_id: string
      status: OtpStatus
      matched: boolean
      attempts_left: number
      sealed_token: string | null
      /** An earlier call of the same key had approved the verification already. */
      repeated?: true
      limit?: LimitUse
    }
  | {
      kind: 'exchanged'
      otp_id: string
      sealed_recipient: string
      recipient_type: 'phone' | 'email'
      channel: Channel
      verified_at: number
    }
  | Refusal
  /** The actor met a bug; its log has the cause. */
  | { kind: 'broken' }
  /** One answer for every token that cannot be exchanged, so that tokens cannot be probed. */
  | { kind: 'no_such_token' }
