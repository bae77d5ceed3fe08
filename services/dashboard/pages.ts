// Lists in pages: `{items, next_cursor}`. A cursor is the id at which a page ended, sealed for its list: a changed cursor, or one of another
// list, cannot be unsealed. Pages are in the order of ids, so that adding or removing items neither repeats nor hides another item.
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
    description: `How many items a page has at most; ${DEFAULT_PAGE_SIZE} without it.`,
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

export type PageOptions = z.output<typeof pageQuery>

export interface Listing<T extends Doc, Shown> {
  docs: Pick<Docs<T>, 'find'>
  filter: Filter<T>
  /** In descending order of ids, which begin with the time of their creation. Otherwise in ascending order. */
  newestFirst?: boolean
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
    const items: ReturnType<typeof show>[] = []
    const endAt = selective ? clock.now() + MAX_READ_MS_PER_PAGE : Number.POSITIVE_INFINITY
    let [docsRead, lastRead, lastShown] = [0, '', '']
    for await (const doc of newestFirst(before, selective ? DOCS_WANTED_WITH_FILTER : limit + 1)) {
      const hasReadEnough = docsRead === maxDocsRead || (docsRead > 0 && clock.now() >= endAt)
      if (hasReadEnough) return { items, next_cursor: keyring.seal(lastRead, context) }
      docsRead += 1
      lastRead = doc._id
      if (!matches(doc)) continue
      if (items.length === limit) return { items, next_cursor: keyring.seal(lastShown, context) }
      items.push(show(doc))
      lastShown = doc._id
    }
    return { items, next_cursor: null }
  }

/** Where the items of a list come from. */
export interface PageSource<T, Shown> {
  /** At most `limit` items, in their order, those after a position where one is given. */
  read(after: string | undefined, limit: number): Promise<T[]>
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
  async (ctx, { read, positionOf, show }, pageOptions) => {
    const context = cursorContext(ctx)
    const after = pageOptions.cursor === undefined ? undefined : unsealCursor(keyring, pageOptions.cursor, context)
    // One more than the page, to know whether there is a next page.
    const found = await read(after, pageOptions.limit + 1)
    const page = found.slice(0, pageOptions.limit)
    const last = found.length > page.length ? page.at(-1) : undefined
    return { items: page.map(show), next_cursor: last === undefined ? null : keyring.seal(positionOf(last), context) }
  }

export function createReadPage(keyring: Pick<Keyring, 'seal' | 'unseal'>): ReadPage {
  const readPageOf = createReadPageOf(keyring)
  return (ctx, { docs, filter, newestFirst = false, show }, pageOptions) =>
    readPageOf(
      ctx,
      {
        read(after, limit) {
          const afterCursor = after === undefined ? {} : { _id: newestFirst ? { $lt: after } : { $gt: after } }
          return docs.find({ ...filter, ...afterCursor }, { sort: { _id: newestFirst ? -1 : 1 } as Sort<Doc>, limit })
        },
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
