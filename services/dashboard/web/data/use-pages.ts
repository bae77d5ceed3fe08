// Pages through a list of the API. In: what is listed, and the call for the page behind a cursor. Out: the rows of one page, and steps to
// the next and the previous. Only one page is in the browser, however long the list is. The browser's history remembers the page, so that
// Back from a row's own screen returns to it.
import { useRef, useState } from 'preact/hooks'
import type { CallOptions } from '../api/client.ts'
import { type Query, type QueryOptions, useQuery } from './use-query.ts'

export interface Page<T> {
  items: T[]
  next_cursor: string | null
}

export interface PageQuery {
  limit: number
  cursor?: string
}

export type ReadPage<T> = (query: PageQuery) => Promise<Page<T>>

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
  load: (page: PageQuery, call: CallOptions) => Promise<Page<T>>,
  options: QueryOptions = {},
): Pages<T> {
  const [place, setPlace] = useState<{ key: string | null; cursors: string[] }>({
    key,
    cursors: rememberedCursors(key),
  })
  const cursors = place.key === key ? place.cursors : rememberedCursors(key)
  const cursor = cursors.at(-1)
  const query = useQuery(
    key === null ? null : `${key} ${cursor ?? ''}`,
    call => load({ ...(cursor === undefined ? {} : { cursor }), limit: PAGE_SIZE }, call),
    options,
  )
  // The page before stays until this one is there: neither the rows nor the focus on "Next page" jump.
  const shown = useRef<{ key: string | null; data: Page<T> | undefined }>({ key, data: undefined })
  if (query.data !== undefined || shown.current.key !== key) shown.current = { key, data: query.data }
  const { data } = shown.current
  const nextCursor = data?.next_cursor ?? null
  function goTo(to: string[]): void {
    // Until this page is there, the next one is not known.
    if (query.data === undefined) return
    rememberCursors(key, to)
    setPlace({ key, cursors: to })
  }
  return {
    ...query,
    // The rows of another page are not shown for a page that cannot be read.
    data: query.problem && query.data === undefined ? undefined : data,
    number: cursors.length + 1,
    next: nextCursor === null ? undefined : () => goTo([...cursors, nextCursor]),
    previous: cursors.length === 0 ? undefined : () => goTo(cursors.slice(0, -1)),
  }
}

interface HistoryState {
  /** The cursors that led to the page of each list on the screen. */
  pages?: Record<string, string[]>
}

const historyState = (): HistoryState | null => history.state

const rememberedCursors = (key: string | null): string[] => (key === null ? [] : (historyState()?.pages?.[key] ?? []))

function rememberCursors(key: string | null, cursors: string[]): void {
  if (key === null) return
  const state = historyState()
  history.replaceState({ ...state, pages: { ...state?.pages, [key]: cursors } }, '')
}
