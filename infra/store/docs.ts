// The store port: collections of JSON documents, written once and run on MongoDB and on SQLite.
// Filters and updates are written as MongoDB writes them, limited to the operators listed here. Times are epoch milliseconds;
// the one Date is `purge_at`, which the engine's garbage collection reads and nothing else does. A write that rejects with `Unavailable`
// may have happened all the same.

export interface Doc {
  _id: string
  purge_at?: Date
}

/** A document whose changes race: every won change makes `rev` one higher. Inserted with a `rev` of its own choosing. */
export interface RevisedDoc extends Doc {
  rev: number
}

export type Scalar = string | number | boolean | null

export interface Comparison {
  $eq?: Scalar
  $ne?: Scalar
  $in?: readonly Scalar[]
  $gt?: string | number
  $gte?: string | number
  $lt?: string | number
  $lte?: string | number
  $exists?: boolean
}

/** Members are joined by "and". A dotted path reaches into nested objects. `$or` joins alternatives. Values compare as MongoDB
 *  compares them: only with their own type, and null with missing as well. A member that is undefined is refused. */
export type Filter<T extends Doc> = { [path in Path<T>]?: Scalar | Date | Comparison } & { $or?: Filter<T>[] }

type Path<T> = (keyof T & string) | `${keyof T & string}.${string}`

type Fields<T> = { [path in Path<T>]?: unknown }

export interface Operators<T extends Doc> {
  $set?: Fields<T>
  $unset?: { [path in Path<T>]?: true | '' | 1 }
  $setOnInsert?: Fields<T>
  $inc?: { [path in Path<T>]?: number }
  $min?: { [path in Path<T>]?: number }
  $max?: { [path in Path<T>]?: number }
  $push?: { [path in Path<T>]?: unknown | { $each: unknown[]; $slice?: number } }
  /** A value, or a filter on the members of an array of objects. */
  $pull?: { [path in Path<T>]?: unknown }
  $addToSet?: { [path in Path<T>]?: unknown }
}

/** Stages computed from the document itself, for what operators cannot say ("add one unless that passes the limit"). A stage
 *  reads the document as the stage before left it. `$cond` is written as a list. */
export type Pipeline = ({ $set: Record<string, unknown> } | { $unset: string[] })[]

export type Update<T extends Doc> = Operators<T> | Pipeline

export type Sort<T extends Doc> = { [path in Path<T>]?: 1 | -1 }

export interface Page<T extends Doc> {
  /** Ties come in the order of `_id`, in the direction of the last field. An empty sort is by `_id`. */
  sort: Sort<T>
  limit: number
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

export interface Docs<T extends Doc> {
  get(ids: readonly string[]): Promise<Map<string, T>>
  /** Must be served by a declared index (or `_id`); one that is not is an `Unindexed` error outside production. */
  find(filter: Filter<T>, page: Page<T>): Promise<T[]>
  count(filter: Filter<T>): Promise<number>
  /** One group commit, one answer per document, in their order. A duplicate (`_id` or unique index) leaves the others be. */
  insert(docs: readonly T[]): Promise<('inserted' | 'duplicate')[]>
  /** One group commit. Each change is applied only if the document still has its `rev`, which becomes one higher. A change of a
   *  missing document is lost: nothing comes back to life. Changes of one document are taken in their order. Throws `Duplicate`
   *  when a unique index refuses one; which of the others were applied is then unknown. */
  change(changes: readonly Change<T>[]): Promise<('won' | 'lost')[]>
  /** Applies each update to its documents, whatever their revision, and leaves the revision as it is. Answers one per id: those of
   *  the first update, then those of the second, and so on. A missing document is not inserted. In which order a document gets
   *  two updates of one call is not defined. Throws `Duplicate` as `change` does. */
  update(updates: readonly GroupUpdate<T>[]): Promise<('updated' | 'missing')[]>
  /** Atomic on one matching document; answers the document after, or null when none matched. `rev` is left alone. With
   *  `upsert`, a filter by one `_id` inserts when none is there: the filter's equalities, then the update; an upsert without an
   *  `_id` is a TypeError. Throws `Duplicate` when a unique index refuses, and when an upsert by `_id` and more finds the `_id`
   *  taken by a document that does not match the rest. */
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
