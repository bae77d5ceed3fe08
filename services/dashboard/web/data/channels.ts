// The channels as people call them, and which of them can reach a recipient.
import { CHANNELS } from '../../../../machines/channels.ts'
import type { Schemas } from '../api/schema.ts'

export type Channel = Schemas['Channel']

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

export const CHANNEL_OPTIONS = CHANNELS.map(value => ({ value, label: CHANNEL_NAMES[value] }))

/** Also for a name that is not a channel of today, such as one in old statistics. */
export const channelName = (channel: string): string => (CHANNEL_NAMES as Record<string, string>)[channel] ?? channel

export const channelsFor = (recipient: string): readonly Channel[] =>
  recipient.includes('@') ? ['email'] : ['sms', 'whatsapp', 'telegram']
