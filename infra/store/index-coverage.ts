// Whether a declared index serves a query. In: a collection's declaration, a filter and a sort. Out: yes or no. Both adapters ask, so
// that a query which would scan a collection is an error in tests, on every engine, and not a slow page a year later.
//
// An index serves a query when the filter limits the first field of the index and the index has the order of the sort, so that the
// engine sorts nothing. Other conditions are tested on the documents that the index finds; the author of the query must know whether
// those are few.
import { branchesOf, type Condition, conditionsOf, exactValuesOf, isRange } from './conditions.ts'
import type { Doc, Filter, Sort } from './docs.ts'
import { implies } from './implies.ts'
import type { CollectionSpec, Index } from './store.ts'

export type Direction = 1 | -1
export type Order = [path: string, direction: Direction][]

/** `sort` is left out where order does not matter (count, modify, remove). */
export function isServedByIndex<T extends Doc>(spec: CollectionSpec<T>, filter: Filter<T>, sort?: Sort<T>): boolean {
  const branches = branchesOf(filter) ?? []
  const everyBranch = () => branches.length > 0 && branches.every(branch => isServedByIndex(spec, branch, sort))
  const isUnfiltered = Object.keys(filter).length === 0
  return indexesOf(spec).some(index => serves(index, conditionsOf(filter), sort, isUnfiltered)) || everyBranch()
}

/** The fields of an index. One that is not unique ends in `_id`, so that documents that compare equal come in that order unsorted. */
export function keyOf(index: Index): Order {
  const key = Object.entries(index.fields)
  const last = key.at(-1)
  return index.unique || !last || '_id' in index.fields ? key : [...key, ['_id', last[1]]]
}

/** The sort, then `_id` for documents that compare equal. `_id` is left out where a unique index serves the query: no two documents
 *  compare equal there, and MongoDB would sort. */
export function orderOf<T extends Doc>(spec: CollectionSpec<T>, filter: Filter<T>, sort: Sort<T>): Order {
  const conditions = conditionsOf(filter)
  const isUnfiltered = Object.keys(filter).length === 0
  const isFixed = (path: string) => path in sort || exactValuesOf(conditions.get(path))?.length === 1
  const hasNoTies = (spec.indexes as readonly Index[]).some(
    index => index.unique && Object.keys(index.fields).every(isFixed) && serves(index, conditions, sort, isUnfiltered),
  )
  return hasNoTies && Object.keys(sort).length > 0 ? (Object.entries(sort) as Order) : withTieBreak(sort)
}

function withTieBreak<T extends Doc>(sort: Sort<T>): Order {
  const order = Object.entries(sort) as Order
  const id = order.findIndex(([path]) => path === '_id')
  return id >= 0 ? order.slice(0, id + 1) : [...order, ['_id', order.at(-1)?.[1] ?? 1]]
}

const indexesOf = <T extends Doc>(spec: CollectionSpec<T>): Index[] => [
  { fields: { _id: 1 }, unique: true },
  ...(spec.indexes as readonly Index[]),
]

type Conditions = Map<string, Condition>

function serves<T extends Doc>(
  index: Index,
  conditions: Conditions,
  sort: Sort<T> | undefined,
  isUnfiltered: boolean,
): boolean {
  if (!containsMatches(index, conditions)) return false
  const narrowed = narrows(index, conditions) || matchesPartial(index, conditions)
  if (!sort) return narrowed
  return (narrowed || isUnfiltered) && hasOrder(index, conditions, withTieBreak(sort))
}

/** A partial index holds every matching document only if the filter implies the condition of the index. */
function containsMatches(index: Index, conditions: Conditions): boolean {
  if (!index.partial) return true
  if (branchesOf(index.partial)) return false
  return [...conditionsOf(index.partial)].every(([path, wanted]) => implies(conditions.get(path), wanted))
}

function narrows(index: Index, conditions: Conditions): boolean {
  const first = conditions.get(Object.keys(index.fields)[0] ?? '')
  return exactValuesOf(first) !== undefined || isRange(first)
}

/** The filter matches every document of the index, so reading the whole index wastes nothing. */
function matchesPartial(index: Index, conditions: Conditions): boolean {
  if (!index.partial) return false
  const partial = conditionsOf(index.partial)
  return [...conditions].every(([path, condition]) => implies(partial.get(path), condition))
}

/** Compares the index with the sort, field by field: a field that the filter fixes may be skipped, any other must be the sort's next. */
function hasOrder(index: Index, conditions: Conditions, order: Order): boolean {
  const asked = order.filter(([path]) => exactValuesOf(conditions.get(path))?.length !== 1)
  let scanDirection: number | undefined
  for (const [path, direction] of keyOf(index)) {
    const next = asked[0]
    if (!next) return true
    if (next[0] === path && (scanDirection ?? next[1] * direction) === next[1] * direction) {
      scanDirection = next[1] * direction
      asked.shift()
    } else if (exactValuesOf(conditions.get(path)) === undefined) return false
  }
  return asked.length === 0 || index.unique === true
}
