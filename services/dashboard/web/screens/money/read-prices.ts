// Reads all prices. Edits replace the whole list, so no page may be missing.
import { api, bodyOf } from '../../api/client.ts'
import { type Price, type Prices, pricesOf } from './price-table.ts'

const PAGE_LIMIT = 100

export async function readAllPrices(signal?: AbortSignal): Promise<Prices> {
  const all: Price[] = []
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } =
      cursor === null ? { limit: PAGE_LIMIT } : { limit: PAGE_LIMIT, cursor }
    const page: { items: Price[]; next_cursor: string | null } = await bodyOf(
      api.GET('/admin/v1/prices', { params: { query }, ...(signal ? { signal } : {}) }),
    )
    all.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return pricesOf(all)
}
