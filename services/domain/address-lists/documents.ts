// What is stored of address lists: one small document per list, which the processes that look up addresses poll, and the ranges of its
// current version in packed chunks, which they load once per version. The chunks of a version never change: the list's document names
// the current version, so that one write replaces the whole list.
import { createHash } from 'node:crypto'
import type { Doc, Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { ParseCounts } from './list-parser.ts'

export type AddressClass = 'abusive' | 'vpn' | 'proxy' | 'tor' | 'datacenter'

/** The worst first: an address that is in lists of several classes counts as the first of them. */
export const ADDRESS_CLASSES: readonly AddressClass[] = ['abusive', 'vpn', 'proxy', 'tor', 'datacenter']

/** The name of the bootstrap file's lists, one per class. The admin API refuses it. */
export const BOOTSTRAP_LIST_NAME = 'bootstrap'

/** `digest`: of the text, so that the same text is not imported again. `confirmed`: an operator has confirmed that it may hold most
 *  addresses. `url` may hold a subscriber's key in its query: it is shown
 *  without the query. */
export type ListSource =
  | { kind: 'bootstrap'; digest: string }
  | { kind: 'given'; digest: string; confirmed: boolean }
  | { kind: 'url'; url: string; etag: string | null }

/** `waiting`: the sweeper is about to fetch its URL. `failed`: the latest import failed, and the version before it stays current. */
export type ListStatus = 'waiting' | 'importing' | 'ready' | 'failed'

/** How much of the client address space a list covers, from 0 to 1 in each family. */
export interface AddressShare {
  v4: number
  v6: number
}

/** An import that is running. Its lease ends at the list's `due_at`, unless the import renews it before. */
export interface ImportProgress {
  /** The name of the version that it imports. */
  id: string
  lines: number
  bytes: number
  /** Null until the content was fetched. */
  total_bytes: number | null
  /** The share of a given text that is not confirmed: what other lists of the class are checked with until it is imported. */
  share?: AddressShare
}

export interface AddressListDoc extends RevisedDoc {
  class: AddressClass
  name: string
  source: ListSource
  refresh_seconds: number | null
  /** The current version; null before the first import. */
  version: string | null
  /** How many chunks the current version has. */
  chunks: number
  counts: ParseCounts | null
  /** The share of the current version; absent before the first import. */
  share?: AddressShare
  /** When the current version was imported, or last found unchanged at its URL. */
  refreshed_at: number | null
  status: ListStatus
  /** Why the latest import failed. */
  problem: string | null
  importing: ImportProgress | null
  /** When the sweeper fetches the URL, or takes over an import whose lease has ended. */
  due_at?: number
}

/** `data`: intervals as in intervals.ts, as base64 of big-endian words. */
export interface AddressChunkDoc extends Doc {
  words: 1 | 4
  data: string
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export const listId = (addressClass: AddressClass, name: string): string => `${addressClass}:${name}`

/** Unambiguous, because names and versions contain no slash. */
export const chunkId = (list: string, version: string, nth: number): string =>
  `${list}/${version}/${String(nth).padStart(6, '0')}`

export const MAX_LISTS = 100

/** Far above MAX_LISTS plus the bootstrap file's lists, and the lists that two PUTs at once leave for a moment. */
const MAX_STORED_LISTS = 2_000

export async function findAllLists(lists: Pick<Docs<AddressListDoc>, 'find'>): Promise<AddressListDoc[]> {
  const found = await lists.find({}, { sort: { _id: 1 }, limit: MAX_STORED_LISTS })
  // The sweeper removes the chunks of lists that are not in the answer, so an incomplete answer would be harmful.
  if (found.length === MAX_STORED_LISTS) throw new Error(`there are ${MAX_STORED_LISTS} lists or more`)
  return found
}

export const ADDRESS_LIST_COLLECTIONS = {
  ip_lists: collection<AddressListDoc>({
    belongsTo: [{ to: null, why: 'of the deployment' }],
    indexes: [{ fields: { due_at: 1 }, partial: { due_at: { $gt: 0 } } }],
  }),
  ip_chunks: collection<AddressChunkDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
}

export type AddressListStore = StoreOf<typeof ADDRESS_LIST_COLLECTIONS>
