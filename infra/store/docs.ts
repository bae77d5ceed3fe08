// One collection of the store port: what every adapter does with its documents. There are two adapters, mongo.ts (MongoDB) and
// embedded.ts (SQLite), and test/contract/store.contract.ts runs on both.
//
// - A document is JSON. Times are epoch milliseconds. The one Date is `purge_at`, which only the engine's garbage collection reads.
// - Filters and updates are written as MongoDB writes them, with the operators listed here and no others.
// - A write resolves when it is durable. Every read sees the writes that resolved before it began.
// - Every write of one document is atomic. No write of several documents is a transaction.
// - Every call rejects with `Unavailable` when the engine is away. A write that rejects with `Unavailable` may still have happened.

export interface Doc {
  _id: string
  purge_at?: Date
}

/** A document with a revision, which `change` compares and raises by one. The document that is inserted sets the first `rev`. */
export interface RevisedDoc extends Doc {
  rev: number
}

type Scalar = string | number | boolean | null

export interface Comparison {
  $eq?: Scalar
  $in?: readonly Scalar[]
  $gt?: string | number
  $gte?: string | number
  $lt?: string | number
  $lte?: string | number
  $exists?: boolean
}

/** A document matches when it meets every member, and one of the filters in `$or`. A dotted path reaches into nested objects. Values
 *  compare as in MongoDB: a value only with values of its own type, and null also with a missing value. A member that is undefined is
 *  a TypeError, because the filter would match more than its author meant. */
export type Filter<T extends Doc> = { [path in Path<T>]?: Scalar | Date | Comparison } & { $or?: Filter<T>[] }

type Path<T> = (keyof T & string) | `${keyof T & string}.${string}`

type Fields<T> = { [path in Path<T>]?: unknown }

export interface Operators<T extends Doc> {
  $set?: Fields<T>
  $unset?: { [path in Path<T>]?: true | '' | 1 }
  $inc?: { [path in Path<T>]?: number }
  $max?: { [path in Path<T>]?: number }
  $push?: { [path in Path<T>]?: { $each: unknown[]; $slice?: number } }
  /** Removes the objects whose members meet every condition. */
  $pull?: { [path in Path<T>]?: { [member: string]: Scalar | Comparison } }
  $addToSet?: { [path in Path<T>]?: unknown }
}

/** Computes new values from the document itself, for updates that operators cannot express ("add one unless that passes the limit").
 *  Each stage reads the document as the stage before left it. embedded/expression.ts lists the operators of expressions. `$cond` is
 *  written as a list. */
export type Pipeline = ({ $set: Record<string, unknown> } | { $unset: string[] })[]

export type Update<T extends Doc> = Operators<T> | Pipeline

export type Sort<T extends Doc> = { [path in Path<T>]?: 1 | -1 }

export interface Page<T extends Doc> extends ReadOptions {
  /** Documents that compare equal come in the order of `_id`, in the direction of the last field. An empty sort is by `_id`. */
  sort: Sort<T>
  limit: number
  /** The members that the caller reads; all of them unless told. Others but `_id` may be missing in the answer: MongoDB does not send them,
   *  which is less to decode. */
  only?: readonly Path<T>[]
}

/** A change of a document that has revisions. */
export interface Change<T extends Doc> {
  _id: string
  /** The revision the change was computed from. */
  rev: number
  update: Update<T>
}

/** One update for many documents. An id given twice is updated twice. */
export interface GroupUpdate<T extends Doc> {
  ids: readonly string[]
  update: Update<T>
}

export interface ReadOptions {
  /** True: no document is missing, or old, because a member of the engine that was cut off answered from the past. Costs the engine a round
   *  trip among its members for each id or page, so it is for reads whose "not found" would end something. */
  certain?: boolean
}

export interface Docs<T extends Doc> {
  /** The documents with these ids, by id. Missing ones are left out. */
  get(ids: readonly string[], options?: ReadOptions): Promise<Map<string, T>>
  /** The filter and the sort of `find`, and the filters of `count`, `modify` and `remove`, must be served by a declared index or by
   *  `_id`. Outside production, an adapter throws `Unindexed` for one that is not. */
  find(filter: Filter<T>, page: Page<T>): Promise<T[]>
  /** `max`: counting ends there, so that it reads no more than that of many. */
  count(filter: Filter<T>, max?: number): Promise<number>
  /** Inserts in few group commits, often one. Answers one per document, in their order: `duplicate` when its `_id`, or a value of a
   *  unique index, is taken. The other documents are inserted all the same. */
  insert(docs: readonly T[]): Promise<('inserted' | 'duplicate')[]>
  /** Changes in few group commits, often one. A change wins if the document still has the change's `rev`, which then becomes one higher;
   *  otherwise it is lost and changes nothing. A change of a missing document is lost. Changes of one document are taken in their order.
   *  Throws `Duplicate` when a unique index refuses a change; which of the others were applied is then unknown. */
  change(changes: readonly Change<T>[]): Promise<('won' | 'lost')[]>
  /** Applies each update to its documents, at any revision, and leaves the revision as it is. Answers one per id: those of the first
   *  update, then those of the second, and so on. A missing document is not inserted. The order in which a document gets two updates of
   *  one call is not defined. Throws `Duplicate` as `change` does. */
  update(updates: readonly GroupUpdate<T>[]): Promise<('updated' | 'missing')[]>
  /** Updates one matching document and answers the document after the update, or null when none matched. Leaves `rev` as it is.
   *  With `upsert`, the filter must name one `_id` (else a TypeError); when no document matches, one is inserted, with the values that
   *  the filter names and then the update. Throws `Duplicate` when a unique index refuses, and when an upsert finds its `_id` taken by
   *  a document that does not match the rest of the filter. */
  modify(filter: Filter<T>, update: Update<T>, options?: { upsert?: boolean }): Promise<T | null>
  /** Removes at most `limit` matching documents; answers how many. */
  remove(filter: Filter<T>, limit: number): Promise<number>
}

/** A unique index refused the write. */
export class Duplicate extends Error {
  override name = 'Duplicate'
}

/** No declared index serves this filter and sort. */
export class Unindexed extends Error {
  override name = 'Unindexed'
}
