export const CHANNELS = ['sms', 'whatsapp', 'telegram', 'email'] as const
export type Channel = (typeof CHANNELS)[number]

/** What has a price: a message on each channel, and a reply in a WhatsApp chat that the user began. */
export const PRICED = [...CHANNELS, 'reply'] as const
export type Priced = (typeof PRICED)[number]

/** Why a channel cannot be used. */
export const OBSTACLES = [
  'disabled',
  'no_provider',
  'no_provider_for_country',
  'provider_paused',
  'cannot_reach_recipient',
  'number_kind',
  'no_business_number',
  'not_provable_by_device',
  'code_too_long',
  'stopped_by_recipient',
] as const
export type Obstacle = (typeof OBSTACLES)[number]

/** An obstacle as callers and operators are told it; or the channel is usable, but the order leaves it out. */
export const CHANNEL_REASONS = [
  'off',
  'recipient',
  'number_kind',
  'country',
  'no_provider',
  'provider_paused',
  'stopped',
  'code_length',
  'not_in_order',
] as const
export type ChannelReason = (typeof CHANNEL_REASONS)[number]

/** What a call says about channels; empty where it leaves them to routing. */
export interface AskedRoute {
  /** The only channel that may be used. */
  channel?: Channel
  /** The caller cannot show a wa.me link to its user: WhatsApp in a link mode is not usable for it. */
  without_link?: true
  /** It brings a code of its own, and Telegram takes 4 to 8 digits. */
  without_telegram?: true
}
