// Lists in pages: `{items, next_cursor}`. A cursor is the id at which a page ended, sealed for its list: a changed
// cursor, or one of another list, cannot be unsealed. Pages are in the order of ids, so that adding or removing items
// neither repeats nor hides another item. A page ends with `limit`, or with the bytes that an answer may have: one
// large item alone may be larger.
import { Buffer } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Clock } from '../../infra/clock.ts'
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { validationProblem } from './request-input.ts'

export const MAX_PAGE_SIZE = 100
const DEFAULT_PAGE_SIZE = 50

const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  .transform(Number)
  .refine(number => number <= MAX_PAGE_SIZE, `must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  .default(DEFAULT_PAGE_SIZE)
  .meta({
    description: `How many items a page has at most; ${DEFAULT_PAGE_SIZE} without it. A page of large items ends at 1 MiB.`,
    documentedAs: z.int().min(1).max(MAX_PAGE_SIZE),
  })

/** The query of every list, beside its own filters. */
export const pageFields = {
  limit,
  cursor: z
    .string()
    .optional()
    .meta({ description: 'The `next_cursor` of the page before, of the same list with the same filters.' }),
}

export const pageQuery = z.strictObject(pageFields)

/** Of a list that is one page, unless that would be large. */
export const wholeListFields = {
  cursor: pageFields.cursor.unwrap().optional().meta({
    description: 'The `next_cursor` of the page before, of the same list with the same filters. A page ends at 1 MiB.',
  }),
}

/** The `limit` of such a list. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

export type PageOptions = z.output<typeof pageQuery>

export interface Listing<T extends Doc, Shown> {
  docs: Pick<Docs<T>, 'find'>
  filter: Filter<T>
  /** In descending order of ids, which begin with the time of their creation. Otherwise in ascending order. */
  newestFirst?: boolean
  /** How many are read at once: few where documents may be large. Without it, all of a page. */
  portion?: number
  show(doc: T): Shown
}

export interface ListRequest {
  path: string
  query: Record<string, unknown>
}

export type ReadPage = <T extends Doc, Shown>(
  ctx: ListRequest,
  listing: Listing<T, Shown>,
  pageOptions: PageOptions,
) => Promise<{ items: Shown[]; next_cursor: string | null }>

export interface FilteredListing<T extends Doc, Shown> {
  /** The documents below the id `before`, or all of them, in descending order of ids. `wanted`: how many are read at first. */
  newestFirst(before: string | undefined, wanted: number): AsyncIterable<T>
  matches(doc: T): boolean
  /** Whether `matches` may be false for many documents. */
  selective: boolean
  show(doc: T): Shown
}

export type ReadFilteredPage = <T extends Doc, Shown>(
  ctx: ListRequest,
  listing: FilteredListing<T, Shown>,
  pageOptions: PageOptions,
) => Promise<{ items: Shown[]; next_cursor: string | null }>

/** How many bytes the items of a page may have, as JSON. */
const MAX_PAGE_BYTES = 2 ** 20

/** The items of a page, as long as there is room for more. */
function createPage<Shown>(limit: number) {
  const items: Shown[] = []
  let bytes = 0
  return {
    items,
    hasLimit: () => items.length === limit,
    /** False where the item does not fit any more. */
    add(item: Shown): boolean {
      bytes += Buffer.byteLength(JSON.stringify(item))
      if (items.length > 0 && bytes > MAX_PAGE_BYTES) return false
      items.push(item)
      return true
    },
  }
}

/** Of a list that has no pages: as many items as a page may have bytes. */
export function firstThatFit<Shown>(items: readonly Shown[]): Shown[] {
  const page = createPage<Shown>(NO_LIMIT)
  for (const item of items) if (!page.add(item)) break
  return page.items
}

/** For one page of a list whose filter no index serves. It ends at the first of the two that it reaches. */
const MAX_DOCS_READ_PER_PAGE = 1_000
const MAX_READ_MS_PER_PAGE = 50
/** Where few documents may match, more of them are read at once. */
const DOCS_WANTED_WITH_FILTER = 250

export interface FilteredPageDeps {
  keyring: Pick<Keyring, 'seal' | 'unseal'>
  clock: Pick<Clock, 'now'>
}

/** For filters that are tested on the documents themselves. A page that has read many documents, or for long, ends where it is: it may be
 *  short or empty and still have a next page. */
export const createReadFilteredPage =
  ({ keyring, clock }: FilteredPageDeps, maxDocsRead = MAX_DOCS_READ_PER_PAGE): ReadFilteredPage =>
  async (ctx, { newestFirst, matches, selective, show }, { limit, cursor }) => {
    const context = cursorContext(ctx)
    const before = cursor === undefined ? undefined : unsealCursor(keyring, cursor, context)
    const page = createPage<ReturnType<typeof show>>(limit)
    const { items } = page
    const endAt = selective ? clock.now() + MAX_READ_MS_PER_PAGE : Number.POSITIVE_INFINITY
    let [docsRead, lastRead, lastShown] = [0, '', '']
    for await (const doc of newestFirst(before, selective ? DOCS_WANTED_WITH_FILTER : limit + 1)) {
      const hasReadEnough = docsRead === maxDocsRead || (docsRead > 0 && clock.now() >= endAt)
      if (hasReadEnough) return { items, next_cursor: keyring.seal(lastRead, context) }
      docsRead += 1
      lastRead = doc._id
      if (!matches(doc)) continue
      if (page.hasLimit() || !page.add(show(doc))) return { items, next_cursor: keyring.seal(lastShown, context) }
      lastShown = doc._id
    }
    return { items, next_cursor: null }
  }

/** Where the items of a list come from. */
export interface PageSource<T, Shown> {
  /** At most `limit` items, in their order, those after a position where one is given. */
  read(after: string | undefined, limit: number): Promise<T[]>
  /** How many are read at once. Without it, all of a page. */
  portion?: number | undefined
  positionOf(item: T): string
  show(item: T): Shown
}

export type ReadPageOf = <T, Shown>(
  ctx: ListRequest,
  source: PageSource<T, Shown>,
  pageOptions: PageOptions,
) => Promise<{ items: Shown[]; next_cursor: string | null }>

export const createReadPageOf =
  (keyring: Pick<Keyring, 'seal' | 'unseal'>): ReadPageOf =>
  async (ctx, { read, portion = MAX_PAGE_SIZE + 1, positionOf, show }, { limit, cursor }) => {
    const context = cursorContext(ctx)
    const page = createPage<ReturnType<typeof show>>(limit)
    const { items } = page
    for (let last = cursor === undefined ? undefined : unsealCursor(keyring, cursor, context); ; await nextTurn()) {
      // One more than the page, to know whether there is a next page.
      const wanted = Math.min(portion, limit + 1 - items.length)
      const found = await read(last, wanted)
      for (const item of found) {
        if (page.hasLimit() || !page.add(show(item))) return { items, next_cursor: keyring.seal(last ?? '', context) }
        last = positionOf(item)
      }
      if (found.length < wanted) return { items, next_cursor: null }
    }
  }

export function createReadPage(keyring: Pick<Keyring, 'seal' | 'unseal'>): ReadPage {
  const readPageOf = createReadPageOf(keyring)
  return (ctx, { docs, filter, newestFirst = false, portion, show }, pageOptions) =>
    readPageOf(
      ctx,
      {
        read(after, limit) {
          const afterCursor = after === undefined ? {} : { _id: newestFirst ? { $lt: after } : { $gt: after } }
          return docs.find({ ...filter, ...afterCursor }, { sort: { _id: newestFirst ? -1 : 1 } as Sort<Doc>, limit })
        },
        portion,
        positionOf: doc => doc._id,
        show,
      },
      pageOptions,
    )
}

/** A cursor is valid for the same path and filters. */
function cursorContext({ path, query: { limit: _, cursor: __, ...filters } }: ListRequest): string {
  return `cursor:${path}?${JSON.stringify(Object.entries(filters).sort())}`
}

function unsealCursor(keyring: Pick<Keyring, 'unseal'>, cursor: string, context: string): string {
  try {
    return keyring.unseal(cursor, context)
  } catch (error) {
    if (!(error instanceof Unsealable)) throw error
    throw validationProblem([{ path: 'cursor', message: 'must be a next_cursor of the same list' }])
  }
}
