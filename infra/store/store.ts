// A store is its collections. Which there are, and their indexes, is a table (collections.ts) that is given to the adapter.
import type { Doc, Docs, Filter } from './docs.ts'

export interface Index<T extends Doc = Doc> {
  /** Scalar fields, in order; dotted paths allowed. A plain index ends in `_id` by itself. */
  fields: { [path: string]: 1 | -1 }
  unique?: boolean
  /** Only documents matching this are in the index. Equality, `$exists: true`, `$gt` and their like. */
  partial?: Filter<T>
}

export interface CollectionSpec<T extends Doc = Doc> {
  indexes: readonly Index<T>[]
  /** Documents are removed some time after their `purge_at`. Garbage collection, never logic. */
  purged?: boolean
  /** Never set: it carries the document's type. */
  readonly type?: T
}

/** Carries the document type beside the indexes: `collection<Company>({ indexes: […] })`. */
export const collection = <T extends Doc>(spec: CollectionSpec<T>): CollectionSpec<T> => spec

// biome-ignore lint/suspicious/noExplicitAny: a table of collections of any document
export type Collections = Record<string, CollectionSpec<any>>

export type Store<C extends Collections> = {
  docs<N extends keyof C & string>(name: N): Docs<C[N] extends CollectionSpec<infer T> ? T : never>
  /** Resolves when the engine answers; rejects with `Unavailable` when it does not. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** A store of which only some collections are used: a room asks for its own. */
export type StoreOf<C extends Collections> = Pick<Store<C>, 'docs'>
