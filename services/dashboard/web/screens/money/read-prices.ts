// Reads all prices. Edits replace the whole list, so no page may be missing.
import { api, bodyOf, type CallOptions } from '../../api/client.ts'
import { allPages } from '../../data/all-pages.ts'
import { type Price, type Prices, pricesOf } from './price-table.ts'

export async function readAllPrices(call?: CallOptions): Promise<Prices> {
  const all: Price[] = []
  const pages = allPages(query => bodyOf(api.GET('/admin/v1/prices', { params: { query }, ...call })))
  for await (const page of pages) all.push(...page)
  return pricesOf(all)
}
