// Reads a list of the API to its end. In: how to read a page. Out: the rows of one page after the other.
import type { Page, ReadPage } from './use-pages.ts'

const PAGE_SIZE = 100

export async function* allPages<T>(read: ReadPage<T>): AsyncGenerator<T[]> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read({ limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) })
    yield page.items
    cursor = page.next_cursor
  } while (cursor !== null)
}
