// Lists over many apps. In: the apps that the caller may see, and a recipient where the list is of one. Out: filters that find disjoint
// documents, for newest-first.ts to merge. A recipient's index differs in every app and mode, so that a search over all apps asks for
// two indexes per app and data key: ten thousand apps have twenty thousand. Nearly all of them lead to no document.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { scanAll } from '../../infra/store/scan.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type AdminRequest, principalOf } from './access.ts'
import { allRecipientIndexes } from './recipients.ts'

/** Of more apps, the documents of all companies are read and those of others left out: a company with so many apps has many of them. */
const MAX_MERGED_APPS = 200
const INDEXES_PER_LOOKUP = 512
/** Fewer are not looked up first. */
const MIN_INDEXES_TO_LOOK_UP = 16
/** Documents of one lookup: more than these mean that one recipient has many. */
const DOCS_PER_LOOKUP = 100

/** Every app that the caller may see. */
export async function* visibleAppIds(store: CountersignStore, request: AdminRequest): AsyncGenerator<string> {
  const { company_id } = principalOf(request)
  for await (const { _id } of scanAll(store.docs('apps'), company_id === null ? {} : { company_id })) yield _id
}

/** For a list of everything that the caller may see. The filters may find documents of other companies too, which the list leaves out. */
export async function visibleFilters<T extends Doc & { app_id: string }>(
  store: CountersignStore,
  request: AdminRequest,
): Promise<Filter<T>[]> {
  if (principalOf(request).company_id === null) return [{}]
  const filters: Filter<T>[] = []
  for await (const app_id of visibleAppIds(store, request)) {
    if (filters.length === MAX_MERGED_APPS) return [{}]
    filters.push({ app_id } as Filter<T>)
  }
  return filters
}

export interface RecipientSearch<T extends Doc> {
  docs: Pick<Docs<T>, 'find'>
  keyring: Pick<Keyring, 'indexes'>
  appIds: AsyncIterable<string> | Iterable<string>
  recipient: string
}

/** Looks up which indexes have a document at all, a few hundred at a time, and answers filters for those. */
export async function recipientFilters<T extends Doc & { recipient?: string }>({
  docs,
  keyring,
  appIds,
  recipient,
}: RecipientSearch<T>): Promise<Filter<T>[]> {
  const present: string[] = []
  let waiting: string[] = []
  for await (const app_id of appIds) {
    waiting.push(...allRecipientIndexes(keyring, app_id, recipient))
    if (waiting.length < INDEXES_PER_LOOKUP) continue
    present.push(...(await findPresent(docs, waiting)))
    waiting = []
    // Thousands of indexes take tens of milliseconds to compute, and other requests have their turn meanwhile.
    await nextTurn()
  }
  const last = waiting.length <= MIN_INDEXES_TO_LOOK_UP ? waiting : await findPresent(docs, waiting)
  return [...present, ...last].map(index => ({ recipient: index }) as Filter<T>)
}

/** Reads in the order of indexes, and skips the rest of an index with many documents. */
async function findPresent<T extends Doc & { recipient?: string }>(
  docs: Pick<Docs<T>, 'find'>,
  indexes: readonly string[],
): Promise<string[]> {
  const present = new Set<string>()
  for (let left = [...indexes]; left.length > 0; ) {
    const found = await docs.find({ recipient: { $in: left } } as Filter<T>, {
      sort: { recipient: 1, _id: -1 } as Sort<T>,
      limit: DOCS_PER_LOOKUP,
    })
    for (const { recipient } of found) if (recipient !== undefined) present.add(recipient)
    const last = found.at(-1)?.recipient
    if (last === undefined || found.length < DOCS_PER_LOOKUP) break
    left = left.filter(index => index > last)
  }
  return [...present]
}
