// Lists, a page at a time: `{items, next_cursor}`. A cursor is the id a page ended with, sealed for that list: changed, or carried to
// another list, it does not open. Pages follow ids, so what is added or removed meanwhile neither repeats nor hides an item.
import { z } from 'zod'
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { readQuery, validationProblem } from './request-input.ts'

const MAX_PAGE_SIZE = 100
const DEFAULT_PAGE_SIZE = 50

const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  .transform(Number)
  .refine(number => number <= MAX_PAGE_SIZE, `must be a whole number from 1 to ${MAX_PAGE_SIZE}`)
  .default(DEFAULT_PAGE_SIZE)

/** What a list can be asked beside its own filters. */
export const pageFields = { limit, cursor: z.string().optional() }

export const pageQuery = z.strictObject(pageFields)

export interface Listing<T extends Doc, Shown> {
  docs: Pick<Docs<T>, 'find'>
  filter: Filter<T>
  /** By id, backward: ids of what happens begin with their time. Else by id, forward. */
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
  pageOptions?: { limit: number; cursor?: string | undefined },
) => Promise<{ items: Shown[]; next_cursor: string | null }>

export const createReadPage =
  (keyring: Pick<Keyring, 'seal' | 'unseal'>): ReadPage =>
  async (ctx, { docs, filter, newestFirst = false, show }, pageOptions = readQuery(ctx, pageQuery)) => {
    const context = cursorContext(ctx)
    const after = pageOptions.cursor === undefined ? undefined : unsealCursor(keyring, pageOptions.cursor, context)
    const afterCursor = after === undefined ? {} : { _id: newestFirst ? { $lt: after } : { $gt: after } }
    const foundDocs = await docs.find(
      { ...filter, ...afterCursor },
      {
        sort: { _id: newestFirst ? -1 : 1 } as Sort<Doc>,
        // One more than shown tells whether there are more.
        limit: pageOptions.limit + 1,
      },
    )
    const shown = foundDocs.slice(0, pageOptions.limit)
    const last = foundDocs.length > shown.length ? shown.at(-1) : undefined
    return { items: shown.map(show), next_cursor: last === undefined ? null : keyring.seal(last._id, context) }
  }

/** The list's address and filters. */
function cursorContext({ path, query: { limit: _, cursor: __, ...filters } }: ListRequest): string {
  return `cursor:${path}?${JSON.stringify(Object.entries(filters).sort())}`
}

function unsealCursor(keyring: Pick<Keyring, 'unseal'>, cursor: string, context: string): string {
  try {
    return keyring.unseal(cursor, context)
  } catch (error) {
    if (!(error instanceof Unsealable)) throw error
    throw validationProblem([{ path: 'cursor', message: 'must be a next_cursor of this very list' }])
  }
}
