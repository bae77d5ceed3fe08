// The headings of the table of prices.

import type { Channel } from '../../../../../machines/channels.ts'
import { countryName } from '../../data/countries.ts'
import { ANY_COUNTRY } from './price-table.ts'

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  sms: 'SMS',
  whatsapp: 'WhatsApp',
  telegram: 'Telegram',
  email: 'Email',
}

export const countryLabel = (country: string): string =>
  country === ANY_COUNTRY ? 'Every other country' : `${countryName(country)} (${country})`
