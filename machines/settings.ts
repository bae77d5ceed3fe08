// An app's settings with all defaults resolved, as every part of the system reads them. The members have the names of the bootstrap
// file and the admin API. The schema that parses them, with the defaults, is in services/domain/tenancy/settings.ts.
import type { Channel } from './channels.ts'

/** `template` sends the code as a template message. In the two link modes the user writes first, and their message is answered with
 *  the code (`link_code`) or approves the verification (`link_inbound`). */
export type WhatsAppMode = 'template' | 'link_code' | 'link_inbound'

/** At most `max` in any `seconds` seconds. */
export interface LimitRule {
  max: number
  seconds: number
}

/** Every rule of a list must hold; an empty list limits nothing. */
export interface LimitSettings {
  recipient: LimitRule[]
  /** Messages to one recipient, including resends. */
  recipient_messages: LimitRule[]
  client_ip: LimitRule[]
  app: LimitRule[]
  /** Sends and resends by publishable keys. */
  app_publishable: LimitRule[]
  app_without_client_ip: LimitRule[]
  /** The share of the `client_ip` limit that a VPN, proxy, Tor or datacenter address gets. */
  client_ip_reputation_factor: number
  /** Wrong codes for one recipient, over all of its verifications. */
  recipient_verify: LimitRule[]
}

export interface RoutingSettings {
  default: Channel[]
  /** By ISO 3166-1 alpha-2 code. A country's order replaces the default one. */
  countries: Record<string, Channel[]>
}

export interface SmsSettings {
  enabled: boolean
  /** If set, the text ends in `@domain #code`, which browsers fill in on that domain only. */
  domain: string | null
  /** If set, the text ends in the Android app's SMS Retriever hash. */
  android_hash: string | null
}

export interface WhatsAppSettings {
  enabled: boolean
  mode: WhatsAppMode
  /** The number that a wa.me link opens. Without it, the link modes are not usable. */
  business_number: string | null
}

export interface ChannelSettings {
  sms: SmsSettings
  email: { enabled: boolean }
  telegram: { enabled: boolean }
  whatsapp: WhatsAppSettings
}

/** What is done about sends that look like SMS pumping. `record` only records the decisions that `on` would also enforce. An app that has
 *  not set a mode has `on` if `publishable_send` is on, else `record`. */
export interface FraudGuardSettings {
  mode: 'off' | 'record' | 'on'
  /** `free_channel` moves a send to a channel without a price if there is one, and refuses it otherwise. */
  action: 'refuse' | 'free_channel'
}

/** When a publishable key must solve a challenge before it sends: `risk` where a live send looks risky, `always` in test mode too. An app
 *  that has not set it has `risk` if `publishable_send` is on, else `off`. */
export type PublishableChallenge = 'off' | 'risk' | 'always'

export interface AppSettings {
  locale: string
  code: { length: number; ttl_seconds: number }
  verify_attempts: number
  /** How often a verification can be sent, including the first send. */
  send_attempts: number
  /** The cooldown after the 1st, 2nd, … send; the last value repeats. machines/resend.ts applies it. */
  resend_cooldown_seconds: number[]
  token_ttl_seconds: number
  idempotency_ttl_seconds: number
  limits: LimitSettings
  routing: RoutingSettings
  channels: ChannelSettings
  blocked_countries: string[]
  /** Null allows every country that is not blocked. */
  allowed_countries: string[] | null
  /** Micro-units per UTC day, by country. `*` holds for each country without a cap of its own. */
  spend_caps: Record<string, number>
  fraud_guard: FraudGuardSettings
  auto_fallback: boolean
  publishable_send: boolean
  publishable_challenge: PublishableChallenge
  /** The origins from which a browser may use a publishable key. An empty list allows all. */
  allowed_origins: string[]
  retention_days: number
}
