// The price of a message: that of its channel and country, or of its channel for all other countries, or nothing.
import type { Channel } from '../../../machines/channels.ts'
import { type Price, priceId } from './documents.ts'

export const ANY_COUNTRY = '*'

export type PriceList = (channel: Channel, country: string | null) => number

export function priceList(prices: readonly Price[]): PriceList {
  const micros = new Map(prices.map(price => [price._id, price.micros]))
  return (channel, country) =>
    (country === null ? undefined : micros.get(priceId(channel, country))) ??
    micros.get(priceId(channel, ANY_COUNTRY)) ??
    0
}
