// A verification as data: what it remembers, which events it takes, which effects it asks for, what it replies. A message is the delivery
// of a code that its caller made: the same data, without anything to verify.
// Secrets (recipient, salt, given code, link) are sealed text here. The machine copies them and never reads them.
import { type AskedRoute, type Channel, OBSTACLES, type Obstacle, type Priced } from './channels.ts'
import type { ErrorType } from './errors.ts'
import type { NumberKind, WhatsAppMode } from './settings.ts'
import type { WebhookEvent } from './webhook-events.ts'

export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]
export const KEY_KINDS = ['server', 'publishable'] as const
export type KeyKind = (typeof KEY_KINDS)[number]
export const OTP_STATUSES = ['pending', 'approved', 'failed', 'expired', 'canceled'] as const
export type OtpStatus = (typeof OTP_STATUSES)[number]
export const MESSAGE_STATUSES = ['pending', 'delivered', 'failed', 'expired', 'canceled'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]
export type SavedStatus = OtpStatus | MessageStatus
export const COMPLETIONS = ['code', 'inbound'] as const
export type Completion = (typeof COMPLETIONS)[number]
export const DELIVERY_STATUSES = ['queued', 'sent', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]
/** Why a delivery failed, as clients and operators see it. */
export const FAILURE_REASONS = [
  'recipient_unreachable',
  'provider_failed',
  'no_answer',
  'superseded',
  'no_provider',
  'insufficient_funds',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

/** Why a verification cannot be resent or verified, as clients see it. `channel_…`: why the channel that the caller named is not usable. */
export const NOT_ALLOWED_CAUSES = [
  'not_pending',
  'send_attempts_spent',
  'no_usable_channel',
  ...OBSTACLES.map(obstacle => `channel_${obstacle}` as const),
  'approved_by_message',
  'proved_by_exchange',
] as const
export type NotAllowedCause = (typeof NOT_ALLOWED_CAUSES)[number]

export interface Caller {
  key_id: string
  kind: KeyKind
}

export const RECIPIENT_KINDS = ['phone', 'email'] as const

export interface Recipient {
  kind: (typeof RECIPIENT_KINDS)[number]
  sealed: string
  /** A keyed hash, per app and mode: it finds a recipient's verifications without unsealing the recipient. */
  index: string
  masked: string
  /** ISO 3166-1 alpha-2 of a phone number; null for an email address and for numbers of no country. */
  country: string | null
  /** Absent for an email address, for a mobile number, and for one that may be a mobile or a fixed line. */
  number_kind?: NumberKind
}

/** A wa.me link that the user opens. Their message carries the reference; `reference` is its keyed index, which finds the
 *  verification. */
export interface Link {
  sealed_url: string
  reference: string
  /** The joined id that asked for it; absent for the first id. */
  asked_as?: string
}

/** Why a provider was called first for a message. Not stored where it was simply the first in the list that could be used. */
export type RouteReason = LearnedReason | TakeoverReason

/** It came first by what is known about the routes. */
export interface LearnedReason {
  /** `best`: the highest estimate. `explored`: another one, to learn. `probe`: a silent one, to notice its recovery. `spared`: the ones
   *  listed before it are silent. */
  rule: 'best' | 'explored' | 'probe' | 'spared'
  /** The share of messages that this provider gets first, and its conversion by the evidence, both from 0 to 1 with three digits. */
  share: number
  conversion: number
  /** What its cost took off the conversion, by `routing.worth_micros`, with three digits. Absent where cost did not
   *  decide. */
  less?: number
}

/** Another provider came first, and no message may go to it now: its circuit breaker is open, or its vendor has asked for a pause. */
export interface TakeoverReason {
  rule: 'taken_over'
  from: string
}

export interface Delivery {
  delivery_id: string
  channel: Channel
  generation: number
  status: DeliveryStatus
  created_at: number
  updated_at: number
  /** The price that was paid for the message, in micro-units. */
  micros: number
  /** The name of the provider that took the message; absent until one did. */
  provider?: string
  /** Present where the delivery failed. */
  reason?: FailureReason
  /** Present where the delivery failed and its price is paid all the same, because its code was entered or a receipt says that it arrived.
   *  `kept`: it failed after the approval, and was not refunded. `again`: it was refunded, and charged again. */
  charge?: 'kept' | 'again'
  /** When a receipt said that it arrived, after it had failed. Its status stays as it was told, and its refund is charged again. */
  late_receipt_at?: number
  /** The kind of the key whose resend asked for it; absent for the first message, a fallback and an answer in the chat. */
  asked_by?: KeyKind
  /** That resend brought a challenge solved at the highest difficulty. */
  hardest_challenge?: true
  /** The joined id whose send or resend asked for it; absent for the first id. */
  asked_as?: string
  /** The error code and text in the vendor's receipt of the failure, without personal data; absent where the receipt had none. */
  vendor_code?: string
  vendor_text?: string
  /** Only of a request for the contact, which carries no code: the id of the WhatsApp user it goes to, who hides their number. Sealed. */
  writer?: string
  /** Why the provider that took the message was called first; absent where it was simply the first in the list that
   *  could be used, and where another one was called before. */
  because?: RouteReason
}

/** What a report says of a delivery beside its status. */
export type ReportDetails = {
  [detail in 'provider' | 'reason' | 'vendor_code' | 'vendor_text' | 'because']?: Delivery[detail] | undefined
} & {
  /** The message is no longer wanted, and a provider may have got it before. It stays paid. */
  may_have_gone?: true | undefined
}

/** What a message costs, in micro-units. What is missing is free. */
export type Prices = Partial<Record<Priced, number>>

/** The app's settings as they were when the verification was sent: a later change of settings does not affect it. */
export interface Rules {
  ttl_ms: number
  verify_attempts: number
  send_attempts: number
  /** The cooldown after the 1st, 2nd, … send; the last value repeats. */
  cooldowns_ms: number[]
  token_ttl_ms: number
  auto_fallback: boolean
}

/** The code is derived from these, `otp_id` and `generation`. It is never stored. */
export interface DerivedCode {
  secret: string
  salt: string
  length: number
}

/** The code of a message, sealed; null once the message has ended. */
export interface GivenCode {
  given: string | null
  /** How long it is valid after its caller gave it; absent where that did not tell. */
  life_ms?: number
}

/** What a send was judged by beside its recipient, its key and its client address. Stored only where a member is present, as in few sends:
 *  settings can be tried on past sends by it (replay.ts). */
export interface SendCircumstances extends AskedRoute {
  /** The client address was one of a VPN, proxy, Tor exit or datacenter. */
  suspect?: true
  /** The call brought a challenge solved at the highest difficulty. */
  hardest_challenge?: true
  /** A login asked for it, at a receiver of services/edge/hooks. */
  from_login?: true
  /** The recipient asked for no more messages on every channel that could be used. A device is not told that, and nothing
   *  is sent. */
  blocked?: true
  /** The channels that were passed over, because the recipient asked for no more messages there. */
  stopped?: Channel[]
}

/** What a send says of its texts, in place of what the app's settings say. */
export interface SendText {
  /** In place of the app's name. */
  app_name?: string
  /** One of `channels.sms.android_hashes`: an SMS ends with it. */
  app_hash?: string
  /** One of `channels.sms.domains`: an SMS ends with its line, where no hash is named. */
  domain?: string
}

/** What each id of a verification has of its own (otp.ids.ts). */
export interface OwnTries {
  /** What its send named for the text; absent where that named nothing. */
  text?: SendText
  wrong_codes: number
  /** When the first wrong code came; absent until then. */
  first_wrong_at?: number
  /** When the last guess was wrong; absent until then. */
  failed_at?: number
  /** The id was canceled while others of its verification could go on. */
  canceled?: true
  /** When it was canceled or its time was up; present only where an endpoint asked to be told. */
  ended_at?: number
}

/** The id of a send that joined a pending verification. */
export interface JoinedId extends OwnTries {
  otp_id: string
  joined_at: number
  by: Caller
  /** What the caller's backend gave with its send, sealed; absent when it gave nothing. */
  metadata?: string
}

export interface Otp extends OwnTries {
  /** The id of its first send; for a message, its `msg_…`. */
  otp_id: string
  company_id: string
  app_id: string
  mode: Mode
  started_by: Caller
  recipient: Recipient
  /** Sealed; null when none was usable. */
  client_ip: string | null
  /** Absent where nothing was unusual. */
  circumstances?: SendCircumstances
  locale: string
  code: DerivedCode | GivenCode
  rules: Rules
  /** The routing order for the recipient's country. */
  order: Channel[]
  whatsapp: WhatsAppMode
  channel: Channel
  tried: Channel[]
  /** A new generation has a new code; codes and links of earlier generations are no longer valid. */
  generation: number
  /** Set while the verification waits on a wa.me link. */
  link: Link | null
  sends: number
  first_sent_at: number
  last_sent_at: number
  expires_at: number
  deliveries: Delivery[]
  /** `by` is null when the user's own message approved. `otp_id`: the joined id that was verified; absent for the first id. */
  approval: { at: number; by: Caller | null; generation: number; channel: Channel; otp_id?: string } | null
  /** The ids of later sends that joined it, in their order; absent where none did. The members of `OwnTries` beside it
   *  are the first id's. */
  joined?: JoinedId[]
  exchange: { key_id: string; at: number } | null
  /** Learned routes leave it out: the guard suspected a message of it, or the recipient had another verification shortly before. */
  unlearned?: true
}

/** What a resend or a fallback needs from outside the machine: the usable channels, their prices and a new delivery id. */
export interface ResendInputs {
  usable: Channel[]
  /** For the delivery that the resend or the fallback makes, if it makes one. */
  new_delivery_id: string
  /** A new link, used if the verification moves to WhatsApp in a link mode; null in template mode. */
  link: Link | null
  prices: Prices
}

/** What a new verification is made from; the other members of `Otp` follow from it. */
export type OtpStart = Pick<
  Otp,
  | 'otp_id'
  | 'company_id'
  | 'app_id'
  | 'mode'
  | 'started_by'
  | 'recipient'
  | 'client_ip'
  | 'circumstances'
  | 'locale'
  | 'code'
  | 'rules'
  | 'order'
  | 'whatsapp'
  | 'channel'
  | 'unlearned'
  | 'text'
> & { at: number; delivery_id: string; link: Link | null; prices: Prices }

/** `at` is when the event happened. `event_id` is the id of the webhook event that it may cause; absent where no endpoint asks for that.
 *  `otp_id` is the id by which the caller names the verification; absent for the first one. */
export type OtpEvent =
  | ({
      type: 'otp.resend'
      at: number
      otp_id?: string
      /** What is saved of a send that joins. `otp_id` is then its new id. */
      joins?: Pick<JoinedId, 'by' | 'metadata' | 'text'>
      requestedChannel: Channel | null
      /** The kind of the key that asks; absent where no call of a client does. */
      by?: KeyKind
      /** Why the requested channel is not usable; null when it is, and when none is requested. */
      obstacle: Obstacle | null
    } & ResendInputs)
  | {
      type: 'otp.verify'
      at: number
      otp_id?: string
      by: Caller
      right: boolean
      locked_ms: number | null
      event_id: string
    }
  /** `all`: for every id. `event_ids`: by the ids that end; absent where no endpoint asks for that. */
  | { type: 'otp.cancel'; at: number; otp_id?: string; all?: true; event_ids?: Record<string, string> | undefined }
  | { type: 'otp.lapse'; at: number; event_ids?: Record<string, string> | undefined }
  | { type: 'token.exchange'; at: number; key_id: string; genuine: boolean }
  | ({
      type: 'delivery.reported'
      at: number
      delivery_id: string
      status: ReportedStatus
      event_id: string
      unpaid?: Unpaid | undefined
    } & ReportDetails &
      ResendInputs)
  | {
      type: 'message.received'
      at: number
      reference: string
      /** The id of a WhatsApp user who hides their number, sealed. Whether they are the recipient is not known, so they are asked. */
      writer?: string
      new_delivery_id: string
      prices: Prices
      event_id: string
      unpaid?: Unpaid
    }

/** Present once a fallback or an answer in the chat was refused because it could not be paid. The delivery is then recorded as failed, and
 *  `event_id` is the id of its webhook event. */
export interface Unpaid {
  event_id: string
}

export type EventOf<T extends OtpEvent['type']> = Extract<OtpEvent, { type: T }>

export type ReportedStatus = Exclude<DeliveryStatus, 'queued'>

/** What is to be done once the state is saved. Consumers recognise a repeated effect by its id. */
export type Effect =
  | { type: 'deliver'; id: string; channel: Channel; generation: number }
  | EventEffect
  | { type: 'refund'; id: string; delivery_id: string; micros: number }
  /** Takes back a refund: the delivery had arrived, because its code was entered or a receipt says so. */
  | { type: 'recharge'; id: string; delivery_id: string; micros: number }

export type EventEffect = { type: 'notify'; id: string } & WebhookEvent

/** The machine's reply to a command. Replies are stored with the verification, so they hold no secrets. */
export type Reply =
  /** `otp_id`: of a send that joined, the id that it got. */
  | { kind: 'accepted'; otp_id?: string }
  | { kind: 'verified'; status: OtpStatus; matched: boolean; attempts_left: number; token: boolean }
  | { kind: 'exchanged' }
  | { kind: 'noted'; changed: boolean }
  | {
      kind: 'refused'
      error: ErrorType
      retry_after_ms?: number
      otp_status?: OtpStatus
      cause?: NotAllowedCause
      /** The channel that the caller named, where that is not usable. */
      channel?: Channel
    }
  | { kind: 'no_such_token' }
