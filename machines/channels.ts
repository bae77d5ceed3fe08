export type Channel = 'sms' | 'whatsapp' | 'telegram' | 'email'

export const CHANNELS: readonly Channel[] = ['sms', 'whatsapp', 'telegram', 'email']

/** Why a channel cannot be used. */
export type Obstacle =
  | 'disabled'
  | 'cannot_reach_recipient'
  | 'no_provider'
  | 'no_provider_for_country'
  | 'provider_paused'
  | 'no_business_number'
  | 'not_provable_by_device'

/** An obstacle as callers and operators are told it; or the channel is usable, but the order leaves it out. */
export type ChannelReason = 'off' | 'recipient' | 'country' | 'no_provider' | 'provider_paused' | 'not_in_order'

/** What a call says about channels; empty where it leaves them to routing. */
export interface AskedRoute {
  /** The only channel that may be used. */
  channel?: Channel
  /** The caller cannot show a wa.me link to its user: WhatsApp in a link mode is not usable for it. */
  without_link?: true
}
