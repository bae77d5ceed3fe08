// Lists, a page at a time: `{items, next_cursor}`. A cursor is the id a page ended with, sealed for that list: changed, or carried to
// another list, it does not open. Pages follow ids, so what is added or removed meanwhile neither repeats nor hides an item.
import { z } from 'zod'
import { type Keyring, Unsealable } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { invalid, queryOf } from './requests.ts'

const MOST = 100
const USUAL = 50

const limit = z
  .string()
  .regex(/^[1-9]\d{0,2}$/, `must be a whole number from 1 to ${MOST}`)
  .transform(Number)
  .refine(number => number <= MOST, `must be a whole number from 1 to ${MOST}`)
  .default(USUAL)

/** What a list can be asked beside its own filters. */
export const PAGE = { limit, cursor: z.string().optional() }

export const pageQuery = z.strictObject(PAGE)

export interface Listing<T extends Doc, Shown> {
  docs: Pick<Docs<T>, 'find'>
  filter: Filter<T>
  /** By id, backward: ids of what happens begin with their time. Else by id, forward. */
  newestFirst?: boolean
  show(doc: T): Shown
}

export interface Asked {
  path: string
  query: Record<string, unknown>
}

export type Pages = <T extends Doc, Shown>(
  ctx: Asked,
  listing: Listing<T, Shown>,
  asked?: { limit: number; cursor?: string | undefined },
) => Promise<{ items: Shown[]; next_cursor: string | null }>

export const paging =
  (keyring: Pick<Keyring, 'seal' | 'unseal'>): Pages =>
  async (ctx, { docs, filter, newestFirst = false, show }, asked = queryOf(ctx, pageQuery)) => {
    const list = listOf(ctx)
    const after = asked.cursor === undefined ? undefined : opened(keyring, asked.cursor, list)
    const rest = after === undefined ? {} : { _id: newestFirst ? { $lt: after } : { $gt: after } }
    const docsFound = await docs.find(
      { ...filter, ...rest },
      {
        sort: { _id: newestFirst ? -1 : 1 } as Sort<Doc>,
        // One more than shown tells whether there are more.
        limit: asked.limit + 1,
      },
    )
    const shown = docsFound.slice(0, asked.limit)
    const last = docsFound.length > shown.length ? shown.at(-1) : undefined
    return { items: shown.map(show), next_cursor: last === undefined ? null : keyring.seal(last._id, list) }
  }

/** The list's address and filters. */
function listOf({ path, query: { limit: _, cursor: __, ...filters } }: Asked): string {
  return `cursor:${path}?${JSON.stringify(Object.entries(filters).sort())}`
}

function opened(keyring: Pick<Keyring, 'unseal'>, cursor: string, list: string): string {
  try {
    return keyring.unseal(cursor, list)
  } catch (error) {
    if (!(error instanceof Unsealable)) throw error
    throw invalid([{ path: 'cursor', message: 'must be a next_cursor of this very list' }])
  }
}
