export type Channel = 'sms' | 'whatsapp' | 'telegram' | 'email'

export const CHANNELS: readonly Channel[] = ['sms', 'whatsapp', 'telegram', 'email']

/** Why a channel cannot be used. */
export type Obstacle =
  | 'disabled'
  | 'cannot_reach_recipient'
  | 'no_provider'
  | 'no_business_number'
  | 'not_provable_by_device'
