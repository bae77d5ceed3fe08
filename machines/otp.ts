// A verification as data: what it remembers, what can happen to it, what it asks the world to do, what it answers.
// Secrets (recipient, salt, link) are sealed text here; the machine moves them about and never reads them.
import type { Channel } from './channels.ts'
import type { ErrorType } from './errors.ts'
import type { WhatsAppMode } from './settings.ts'

export type Mode = 'live' | 'test'
export type KeyKind = 'server' | 'publishable'
export type OtpStatus = 'pending' | 'approved' | 'failed' | 'expired' | 'canceled'
export type Completion = 'code' | 'inbound'
export type DeliveryStatus = 'queued' | 'sent' | 'delivered' | 'failed'

export interface Caller {
  key_id: string
  kind: KeyKind
}

export interface Recipient {
  kind: 'phone' | 'email'
  sealed: string
  /** Keyed, per app: finds the recipient's verifications without reading it. */
  index: string
  masked: string
  /** ISO 3166-1 alpha-2 of a phone number; null for an email address and for numbers of no country. */
  country: string | null
}

/** A wa.me link that the user opens: `reference` (a keyed index) is how their message finds this verification. */
export interface Link {
  sealed_url: string
  reference: string
}

export interface Delivery {
  delivery_id: string
  channel: Channel
  generation: number
  status: DeliveryStatus
  created_at: number
  updated_at: number
  /** What was paid for it, in micro-units. */
  micros: number
}

/** What a message costs on each channel; nothing where none is named. */
export type Prices = Partial<Record<Channel, number>>

/** The app's settings as they were when the verification was sent. */
export interface Rules {
  ttl_ms: number
  verify_attempts: number
  send_attempts: number
  /** After the 1st, 2nd, … send; the last value repeats. */
  cooldowns_ms: number[]
  token_ttl_ms: number
  auto_fallback: boolean
}

export interface Otp {
  otp_id: string
  company_id: string
  app_id: string
  mode: Mode
  started_by: Caller
  recipient: Recipient
  /** Sealed; null when none was usable. */
  client_ip: string | null
  locale: string
  /** What the code is derived from, with `otp_id` and `generation`. */
  code: { secret: string; salt: string; length: number }
  rules: Rules
  order: Channel[]
  whatsapp: WhatsAppMode
  channel: Channel
  tried: Channel[]
  /** A fresh one makes every earlier code and link dead. */
  generation: number
  /** Set while the verification waits on a wa.me link. */
  link: Link | null
  sends: number
  wrong_codes: number
  first_sent_at: number
  last_sent_at: number
  expires_at: number
  deliveries: Delivery[]
  /** `by` is null when the user's own message approved. */
  approval: { at: number; by: Caller | null; generation: number; channel: Channel } | null
  exchange: { key_id: string; at: number } | null
}

/** What a move to another channel needs from outside: which channels are usable now, and fresh ids. */
export interface ResendInputs {
  usable: Channel[]
  delivery_id: string
  /** Used when the move ends on a wa.me link; null where WhatsApp has no link mode. */
  link: Link | null
  prices: Prices
}

/** Everything a new verification is born with; the rest follows from it. */
export type OtpStart = Pick<
  Otp,
  | 'otp_id'
  | 'company_id'
  | 'app_id'
  | 'mode'
  | 'started_by'
  | 'recipient'
  | 'client_ip'
  | 'locale'
  | 'code'
  | 'rules'
  | 'order'
  | 'whatsapp'
  | 'channel'
> & { at: number; delivery_id: string; link: Link | null; prices: Prices }

/** `at` is when it happened; `event_id` names the webhook event it may cause. */
export type OtpEvent =
  | ({ type: 'otp.resend'; at: number; requestedChannel: Channel | null } & ResendInputs)
  | { type: 'otp.verify'; at: number; by: Caller; right: boolean; locked_ms: number | null; event_id: string }
  | { type: 'otp.cancel'; at: number }
  | { type: 'otp.lapse'; at: number }
  | { type: 'token.exchange'; at: number; key_id: string; genuine: boolean }
  | ({
      type: 'delivery.reported'
      at: number
      reported_id: string
      status: ReportedStatus
      event_id: string
    } & ResendInputs)
  | { type: 'message.received'; at: number; reference: string; delivery_id: string; prices: Prices; event_id: string }

export type EventOf<T extends OtpEvent['type']> = Extract<OtpEvent, { type: T }>

export type ReportedStatus = Exclude<DeliveryStatus, 'queued'>

export type Effect =
  | { type: 'deliver'; id: string; channel: Channel; generation: number }
  | { type: 'notify'; id: string; event: WebhookEvent; payload: Record<string, string> }
  | { type: 'refund'; id: string; delivery_id: string; micros: number }

export type WebhookEvent = 'otp.approved' | 'otp.failed' | 'delivery.delivered' | 'delivery.failed'

export type Reply =
  | { kind: 'accepted' }
  | { kind: 'verified'; status: OtpStatus; matched: boolean; attempts_left: number; token: boolean }
  | { kind: 'exchanged' }
  | { kind: 'noted'; changed: boolean }
  | { kind: 'refused'; error: ErrorType; retry_after_ms?: number; otp_status?: OtpStatus }
  | { kind: 'no_such_token' }
