// What is stored of lists of addresses: one small document per list, which every process that judges addresses reads again and again,
// and the ranges of its current version in packed chunks, which are read once per version. A version is never changed: the list's
// document names the one that counts, so that naming another is the whole swap.
import type { Doc, Docs, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { ParseCounts } from './list-parser.ts'

export const IP_CLASSES: readonly IpClass[] = ['abusive', 'vpn', 'proxy', 'tor', 'datacenter']

/** The lists of the bootstrap file, one per class, have this name; nobody else's may. */
export const BOOTSTRAP_LIST_NAME = 'bootstrap'

/** `digest`: of what was given, to know it again. An address may hold a subscriber's key: it is shown without its query. */
export type ListSource =
  | { kind: 'bootstrap'; digest: string }
  | { kind: 'given'; digest: string }
  | { kind: 'url'; url: string; etag: string | null }

/** `waiting`: its address is about to be asked. `failed`: the latest import came to nothing; the version before, if any, still counts. */
export type ListStatus = 'waiting' | 'importing' | 'ready' | 'failed'

/** An import under way. It lapses at the list's `due_at`, unless it has shown by then that it lives. */
export interface ImportProgress {
  /** What the version will be called. */
  id: string
  lines: number
  bytes: number
  /** Null until it is known. */
  total_bytes: number | null
}

export interface IpListDoc extends RevisedDoc {
  class: IpClass
  name: string
  source: ListSource
  refresh_seconds: number | null
  /** The version that counts; null while there is none. */
  version: string | null
  /** How many chunks it has. */
  chunks: number
  counts: ParseCounts | null
  /** When the version that counts was last found to be current. */
  refreshed_at: number | null
  status: ListStatus
  /** Why the latest import failed. */
  problem: string | null
  importing: ImportProgress | null
  /** When the sweeper has something to do: fetch it, or see to an import that nobody finished. */
  due_at?: number
}

/** Base64 of intervals: big-endian words, as in intervals.ts. */
export interface IpChunkDoc extends Doc {
  words: 1 | 4
  data: string
}

export const listId = (ipClass: IpClass, name: string): string => `${ipClass}:${name}`

/** No name and no version holds a slash. */
export const chunkId = (list: string, version: string, nth: number): string =>
  `${list}/${version}/${String(nth).padStart(6, '0')}`

export const MAX_LISTS = 100

/** More than ever are there, the bootstrap file's own and those of a moment included. */
const MAX_STORED_LISTS = 2_000

export async function findAllLists(lists: Pick<Docs<IpListDoc>, 'find'>): Promise<IpListDoc[]> {
  const found = await lists.find({}, { sort: { _id: 1 }, limit: MAX_STORED_LISTS })
  // Whoever takes a part for all would remove what belongs to the others.
  if (found.length === MAX_STORED_LISTS) throw new Error(`there are ${MAX_STORED_LISTS} lists or more`)
  return found
}

export type IpClass = 'abusive' | 'vpn' | 'proxy' | 'tor' | 'datacenter'
export interface IpRange extends Doc {
  class: IpClass
  /** The canonical form of the network's address, and its bits. */
  cidr: string
}

export const ipRangeId = (range: Pick<IpRange, 'class' | 'cidr'>): string => `${range.class}:${range.cidr}`

export const ADDRESS_LIST_COLLECTIONS = {
  ip_lists: collection<IpListDoc>({ indexes: [{ fields: { due_at: 1 }, partial: { due_at: { $gt: 0 } } }] }),
  ip_chunks: collection<IpChunkDoc>({ indexes: [] }),
}

export type AddressListStore = StoreOf<typeof ADDRESS_LIST_COLLECTIONS>
