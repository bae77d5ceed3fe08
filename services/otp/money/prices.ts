// The price of a message: that of its channel and country, or of its channel for all other countries, or nothing.
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { Channel } from '../../../machines/channels.ts'
import { type Price, priceId } from '../../domain/money/documents.ts'

export type PriceList = (channel: Channel, country: string | null) => number

export interface PriceSource {
  /** At most a few seconds old. */
  list(): Promise<PriceList>
}

const CACHE_MS = 5_000
const ANY_COUNTRY = '*'

export function createPriceSource({
  prices,
  clock,
}: {
  prices: Pick<Docs<Price>, 'find'>
  clock: Pick<Clock, 'now'>
}): PriceSource {
  const all = createCache(() => readPrices(prices), { ttlMs: CACHE_MS, maxSize: 1, clock })
  return { list: () => all.get('all') }
}

async function readPrices(prices: Pick<Docs<Price>, 'find'>): Promise<PriceList> {
  const micros = new Map<string, number>()
  for await (const price of scanAll(prices)) micros.set(price._id, price.micros)
  return (channel, country) =>
    (country === null ? undefined : micros.get(priceId(channel, country))) ??
    micros.get(priceId(channel, ANY_COUNTRY)) ??
    0
}
