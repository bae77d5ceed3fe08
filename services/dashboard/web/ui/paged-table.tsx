// A table over a long list of the API: one page at a time, with what to show while it loads, when it is empty and when it fails.
import type { ComponentChildren } from 'preact'
import type { Pages } from '../data/use-pages.ts'
import { Button } from './button.tsx'
import { Loading } from './loading.tsx'
import { Notice, ProblemNotice } from './notice.tsx'
import { type Column, Table } from './table.tsx'

export interface PagedTableProps<T> {
  caption: string
  columns: readonly Column<T>[]
  pages: Pages<T>
  keyOf(row: T): string
  /** Says what to do next. */
  empty: ComponentChildren
}

export function PagedTable<T>({ caption, columns, pages, keyOf, empty }: PagedTableProps<T>) {
  const { data, problem, loading, next, number, reload } = pages
  const notice = problem && <ProblemNotice problem={problem} onRetry={reload} />
  if (data === undefined) return notice ?? <Loading what={caption} />
  const isEmpty = data.items.length === 0 && number === 1 && next === undefined
  return (
    <>
      {notice}
      <NothingYet pages={pages} />
      {isEmpty ? empty : <Table caption={caption} columns={columns} rows={data.items} keyOf={keyOf} busy={loading} />}
      <Pager pages={pages} of={caption} />
    </>
  )
}

/** A filter that no index serves may answer a short page, even an empty one, before the end of the list. */
export function NothingYet<T>({ pages: { data, next } }: { pages: Pages<T> }) {
  if (data?.items.length !== 0 || next === undefined) return null
  return <Notice>Nothing on this page yet, there may be more. Go on with “Next page”.</Notice>
}

/** Nothing where there is one page. */
export function Pager<T>({ pages: { next, previous, number }, of }: { pages: Pages<T>; of: string }) {
  if (!next && !previous) return null
  return (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      <Button disabled={!previous} onClick={() => previous?.()}>
        Previous page
      </Button>
      <span>Page {number}</span>
      <Button disabled={!next} onClick={() => next?.()}>
        Next page
      </Button>
    </nav>
  )
}
