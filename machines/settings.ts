// What an app can set: the shape every part of the system reads, all defaults resolved. Member names are those of the bootstrap
// file and the admin API. The schema that parses it is services/domain/tenancy/settings.ts.
import type { Channel } from './channels.ts'

/** `template` sends; in the two link modes the user's own message fetches the code (`link_code`) or approves (`link_inbound`). */
export type WhatsAppMode = 'template' | 'link_code' | 'link_inbound'

/** At most `max` in any `seconds`. */
export interface LimitRule {
  max: number
  seconds: number
}

/** Every rule of a list must hold; an empty list limits nothing. */
export interface LimitSettings {
  recipient: LimitRule[]
  /** Messages to one recipient, resends included. */
  recipient_messages: LimitRule[]
  client_ip: LimitRule[]
  app: LimitRule[]
  app_without_client_ip: LimitRule[]
  /** What VPN, proxy, Tor and datacenter addresses get of the `client_ip` limit. */
  client_ip_reputation_factor: number
  /** Wrong codes for one recipient across OTPs. */
  recipient_verify: LimitRule[]
}

export interface RoutingSettings {
  default: Channel[]
  /** By ISO 3166-1 alpha-2 code; such an order replaces the default one. */
  countries: Record<string, Channel[]>
}

export interface SmsSettings {
  enabled: boolean
  /** Ends the text in `@domain #code`, which browsers fill in on that domain only. */
  domain: string | null
  /** Ends the text in the app's SMS-Retriever hash. */
  android_hash: string | null
}

export interface WhatsAppSettings {
  enabled: boolean
  mode: WhatsAppMode
  /** The number a wa.me link opens; without it the link modes are not usable. */
  business_number: string | null
}

export interface ChannelSettings {
  sms: SmsSettings
  email: { enabled: boolean }
  telegram: { enabled: boolean }
  whatsapp: WhatsAppSettings
}

/** What is done about sends that look like SMS pumping: nothing, a record of what would be done, or that. */
export interface FraudGuardSettings {
  mode: 'off' | 'record' | 'on'
  /** `free_channel` moves a send to a channel without a price, where there is one. */
  action: 'refuse' | 'free_channel'
}

export interface AppSettings {
  locale: string
  code: { length: number; ttl_seconds: number }
  verify_attempts: number
  /** The send and its resends. */
  send_attempts: number
  /** After the 1st, 2nd, … send; the last value repeats. */
  resend_cooldown_seconds: number[]
  token_ttl_seconds: number
  idempotency_ttl_seconds: number
  limits: LimitSettings
  routing: RoutingSettings
  channels: ChannelSettings
  blocked_countries: string[]
  /** null: every country that is not blocked. */
  allowed_countries: string[] | null
  /** Micro-units per UTC day, by country; `*`: each country without a cap of its own. */
  spend_caps: Record<string, number>
  fraud_guard: FraudGuardSettings
  auto_fallback: boolean
  publishable_send: boolean
  /** Origins a browser may use a publishable key from; empty: any. */
  allowed_origins: string[]
  retention_days: number
}
