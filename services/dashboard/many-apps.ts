// Lists over many apps. In: the apps that the caller may see, and a recipient or a value of metadata where the list is
// of one. Out: filters that find disjoint documents, for newest-first.ts to merge. Such an index differs in every app
// and mode, so that a search over all apps asks for two indexes per app and data key: ten thousand apps have twenty
// thousand. Nearly all of them lead to no document.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { Doc, Docs, Filter, Sort } from '../../infra/store/docs.ts'
import { scanAll } from '../../infra/store/scan.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type AdminRequest, principalOf } from './access.ts'
import { allRecipientIndexes } from './recipients.ts'

/** The documents of more apps are asked for in groups. Those of other companies are never read: how many there are between two of the
 *  caller's would tell how much the others send. */
const MAX_SINGLE_APPS = 200
/** As many as the embedded store reads in the order of its index. */
const APPS_PER_GROUP = 50
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

/** For a list of everything that the caller may see. */
export async function visibleFilters<T extends Doc & { app_id: string }>(
  store: CountersignStore,
  request: AdminRequest,
): Promise<Filter<T>[]> {
  if (principalOf(request).company_id === null) return [{}]
  const appIds: string[] = []
  for await (const app_id of visibleAppIds(store, request)) appIds.push(app_id)
  const perFilter = appIds.length <= MAX_SINGLE_APPS ? 1 : APPS_PER_GROUP
  const groups = Array.from({ length: Math.ceil(appIds.length / perFilter) }, (_, nth) =>
    appIds.slice(nth * perFilter, (nth + 1) * perFilter),
  )
  return groups.map(group => ({ app_id: { $in: group } }) as unknown as Filter<T>)
}

type AppIds = AsyncIterable<string> | Iterable<string>

export interface RecipientSearch<T extends Doc> {
  docs: Pick<Docs<T>, 'find'>
  keyring: Pick<Keyring, 'indexes'>
  appIds: AppIds
  recipient: string
}

export const recipientFilters = <T extends Doc & { recipient?: string }>({
  docs,
  keyring,
  appIds,
  recipient,
}: RecipientSearch<T>): Promise<Filter<T>[]> =>
  filtersByIndex<T>({
    docs,
    field: 'recipient',
    appIds,
    indexesIn: app_id => allRecipientIndexes(keyring, app_id, recipient),
  })

export interface IndexSearch<T extends Doc> {
  docs: Pick<Docs<T>, 'find'>
  /** It holds a keyed index, and is indexed with `_id` after it. */
  field: keyof T & string
  appIds: AppIds
  /** The indexes of what is searched for, in both modes and under every data key. */
  indexesIn(app_id: string): string[]
}

/** Looks up which indexes have a document at all, a few hundred at a time, and answers filters for those. */
export async function filtersByIndex<T extends Doc>({
  docs,
  field,
  appIds,
  indexesIn,
}: IndexSearch<T>): Promise<Filter<T>[]> {
  const present: string[] = []
  let waiting: string[] = []
  for await (const app_id of appIds) {
    waiting.push(...indexesIn(app_id))
    if (waiting.length < INDEXES_PER_LOOKUP) continue
    present.push(...(await findPresent(docs, field, waiting)))
    waiting = []
    // Thousands of indexes take tens of milliseconds to compute, and other requests have their turn meanwhile.
    await nextTurn()
  }
  const last = waiting.length <= MIN_INDEXES_TO_LOOK_UP ? waiting : await findPresent(docs, field, waiting)
  return [...present, ...last].map(index => ({ [field]: index }) as Filter<T>)
}

/** Reads in the order of indexes, and skips the rest of an index with many documents. */
async function findPresent<T extends Doc>(
  docs: Pick<Docs<T>, 'find'>,
  field: keyof T & string,
  indexes: readonly string[],
): Promise<string[]> {
  const present = new Set<string>()
  for (let left = [...indexes]; left.length > 0; ) {
    const found = await docs.find({ [field]: { $in: left } } as unknown as Filter<T>, {
      sort: { [field]: 1, _id: -1 } as Sort<T>,
      limit: DOCS_PER_LOOKUP,
    })
    const indexes = found.map(doc => doc[field]).filter(index => typeof index === 'string')
    for (const index of indexes) present.add(index)
    const last = indexes.at(-1)
    if (last === undefined || found.length < DOCS_PER_LOOKUP) break
    left = left.filter(index => index > last)
  }
  return [...present]
}
