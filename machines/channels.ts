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
