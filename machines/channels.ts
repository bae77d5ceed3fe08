export type Channel = 'sms' | 'whatsapp' | 'telegram' | 'email'

export const CHANNELS: readonly Channel[] = ['sms', 'whatsapp', 'telegram', 'email']
