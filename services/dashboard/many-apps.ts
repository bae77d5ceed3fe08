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
