// A channel as people write it. In: its name in the API. Out: its name in a sentence or a heading.

const NAMES: Readonly<Record<string, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

export const channelName = (channel: string): string => NAMES[channel] ?? channel
