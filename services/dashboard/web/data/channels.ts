// The channels as people call them.
import type { components } from '../api/schema.ts'

export type Channel = components['schemas']['Channel']

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

export const ALL_CHANNELS = Object.keys(CHANNEL_NAMES) as Channel[]
