// The store port: a set of collections. An adapter is given a table of collections with their indexes (services/domain/collections.ts
// is the product's), makes sure that the indexes exist, and answers `Docs` for each collection. See docs.ts.
import type { Doc, Docs, Filter } from './docs.ts'

export interface Index<T extends Doc = Doc> {
  /** The indexed fields, in order, with their directions. Dotted paths are allowed. A field holds a scalar, never a list. The adapter
   *  adds `_id` at the end of an index that is not unique. */
  fields: { [path: string]: 1 | -1 }
  unique?: boolean
  /** Only documents that match are in the index. Takes equality, `$exists: true`, `$gt`, `$gte`, `$lt` and `$lte`, and no `$or`. */
  partial?: Filter<T>
  /** In a sharded collection, where the index does not begin with the shard key: the queries that it serves ask every shard. */
  scatter?: Scatter
}

/** Queries of a sharded collection that cannot name its shard key. */
export interface Scatter {
  /** `sweeper`: at a rate that does not grow with the sends, or seldom. `people`: who use the admin API. `calls`: some of the calls,
   *  messages and receipts, never all of them. */
  asker: 'sweeper' | 'people' | 'calls'
  /** Which of them, and how often. */
  why: string
}

/** How the documents of a collection are divided among the shards of a MongoDB cluster. The adapters divide nothing: an operator does,
 *  see docs/operations/sizing.md. A collection without it stays whole, on one shard. */
export interface Sharding {
  key: { [path: string]: 1 | 'hashed' }
  /** Queries by `_id` that do not name the key: by ranges of ids where the key is hashed, by any id where it is another field. */
  byId?: Scatter
}

/** What the documents of a collection are deleted with. `to`: the collection of their owners. Where no filter finds those of an owner, the
 *  code that erases the owner erases them too. A document without an owner has a reason to stay. */
export type Belonging<T extends Doc = Doc> =
  | { to: string; ofOwner(id: string): Filter<T> }
  | { to: string; erasedWithOwner: true }
  | { to: null; why: string }

export interface CollectionSpec<T extends Doc = Doc> {
  indexes: readonly Index<T>[]
  /** Every collection of the product declares it; documents of some have one of several owners. */
  belongsTo?: readonly Belonging<T>[]
  /** The engine removes documents some time after their `purge_at`. Code must not rely on when. */
  purged?: boolean
  sharding?: Sharding
  /** Its documents are read and changed again within seconds, so an adapter may keep the latest in memory. A document that was given to the
   *  store or came from it must not be changed; the embedded one freezes it where strict. */
  keepLatest?: boolean
  /** Never set. Carries the type of the documents. */
  readonly type?: T
}

/** A filter: the documents whose ids begin with their owner's id and a colon, which a semicolon follows. */
export const idsUnder = (owner: string) => ({ _id: { $gte: `${owner}:`, $lt: `${owner};` } })

/** Declares a collection with the type of its documents: `collection<Company>({ indexes: […] })`. */
export const collection = <T extends Doc>(spec: CollectionSpec<T>): CollectionSpec<T> => spec

// biome-ignore lint/suspicious/noExplicitAny: a table of collections of any document
export type Collections = Record<string, CollectionSpec<any>>

export type Store<C extends Collections> = {
  /** Throws a TypeError for a collection that is not in the table. */
  docs<N extends keyof C & string>(name: N): Docs<C[N] extends CollectionSpec<infer T> ? T : never>
  /** Resolves when the engine answers; rejects with `Unavailable` when it does not. */
  ping(): Promise<void>
  /** What the engine's clock shows, in epoch milliseconds. An engine in this process has the process's clock. */
  time(): Promise<number>
  /** Called after what identifies a person was removed or overwritten: then the engine's files have it no more, as far as that is in the
   *  adapter's hands. */
  forgetRemoved(): Promise<void>
  /** Waits for the calls under way. Every later call rejects with `Unavailable`. */
  close(): Promise<void>
}

/** The part of a store that a module uses: its own collections. */
export type StoreOf<C extends Collections> = Pick<Store<C>, 'docs'>
