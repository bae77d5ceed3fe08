// Channels as people call them, and which of them can reach a recipient.
import type { Channel } from './api-request.ts'

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

export const channelsFor = (recipient: string): readonly Channel[] =>
  recipient.includes('@') ? ['email'] : ['sms', 'whatsapp', 'telegram']
