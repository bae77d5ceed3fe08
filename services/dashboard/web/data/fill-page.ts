// Reads on while a filter that no index serves finds nothing. In: a page, and the call for one. Out: the first page
// with rows, or the last one that was read; that one may still have a next page.
import type { Page, PageQuery, ReadPage } from './use-pages.ts'

/** A page of the API reads up to a thousand rows. */
const MAX_CALLS = 8

export async function fillPage<T>(asked: PageQuery, load: ReadPage<T>): Promise<Page<T>> {
  let page = await load(asked)
  for (let calls = 1; calls < MAX_CALLS && page.items.length === 0 && page.next_cursor !== null; calls += 1)
    page = await load({ ...asked, cursor: page.next_cursor })
  return page
}
