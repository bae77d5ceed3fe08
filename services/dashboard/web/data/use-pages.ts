// Pages through a list of the API. In: what is listed, and the call for the page behind a cursor. Out: the rows of one page, and steps to
// the next and the previous. Only one page is in the browser, however long the list is.
import { useState } from 'preact/hooks'
import { type Query, type QueryOptions, useQuery } from './use-query.ts'

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

export interface Pages<T> extends Query<Page<T>> {
  /** Counted from 1. */
  number: number
  /** Undefined on the last page. */
  next: (() => void) | undefined
  /** Undefined on the first page. */
  previous: (() => void) | undefined
}

export const PAGE_SIZE = 50

export function usePages<T>(
  key: string | null,
  load: (page: { cursor?: string; limit: number }, signal: AbortSignal) => Promise<Page<T>>,
  options: QueryOptions = {},
): Pages<T> {
  const [place, setPlace] = useState<{ key: string | null; cursors: string[] }>({ key, cursors: [] })
  const cursors = place.key === key ? place.cursors : []
  const cursor = cursors.at(-1)
  const query = useQuery(
    key === null ? null : `${key} ${cursor ?? ''}`,
    signal => load({ ...(cursor === undefined ? {} : { cursor }), limit: PAGE_SIZE }, signal),
    options,
  )
  const nextCursor = query.data?.next_cursor ?? null
  return {
    ...query,
    number: cursors.length + 1,
    next: nextCursor === null ? undefined : () => setPlace({ key, cursors: [...cursors, nextCursor] }),
    previous: cursors.length === 0 ? undefined : () => setPlace({ key, cursors: cursors.slice(0, -1) }),
  }
}
