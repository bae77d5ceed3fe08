// The prices of messages, read from the store and cached.
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { scanAll } from '../../../infra/store/scan.ts'
import type { Price } from '../../domain/money/documents.ts'
import { type PriceList, priceList } from '../../domain/money/price-list.ts'

export interface PriceSource {
  /** At most a few seconds old. */
  list(): Promise<PriceList>
}

const CACHE_MS = 5_000

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
  const all: Price[] = []
  for await (const price of scanAll(prices)) all.push(price)
  return priceList(all)
}
