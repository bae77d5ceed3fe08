// Reads on while a filter that no index serves finds nothing. In: the call for one page. Out: the first page with rows, or the last one
// that was read; that one may still have a next page.
import type { Page } from '../../data/use-pages.ts'

/** A page of the API reads up to a thousand rows. */
const MAX_CALLS = 8

export async function fillPage<T>(
  load: (cursor: string | undefined) => Promise<Page<T>>,
  start?: string,
): Promise<Page<T>> {
  let page = await load(start)
  for (let calls = 1; calls < MAX_CALLS && page.items.length === 0 && page.next_cursor !== null; calls += 1)
    page = await load(page.next_cursor)
  return page
}
