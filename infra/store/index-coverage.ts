// Does a declared index serve this filter and sort? In: a collection's table entry and the query. Out: yes or no. Both adapters ask, so
// that a query which would scan a collection is an error in tests, on every engine, and not a slow page a year later.
//
// Served means: the filter narrows the first field of an index, and the index has the order asked for, so nothing is sorted. Other
// conditions ride along and are tested on what the index finds: whether that is little is for the author of the query to know.
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

/** The fields an index is made of. A plain one ends in `_id`, so that ties come in that order without sorting. */
export function keyOf(index: Index): Order {
  const key = Object.entries(index.fields)
  const last = key.at(-1)
  return index.unique || !last || '_id' in index.fields ? key : [...key, ['_id', last[1]]]
}

/** A sort with its last word on ties, `_id`. Left out where a unique index serves: there are no ties, and MongoDB would sort. */
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

/** A partial index has every document that matches only if the filter says at least as much as the index. */
function containsMatches(index: Index, conditions: Conditions): boolean {
  if (!index.partial) return true
  if (branchesOf(index.partial)) return false
  return [...conditionsOf(index.partial)].every(([path, wanted]) => implies(conditions.get(path), wanted))
}

function narrows(index: Index, conditions: Conditions): boolean {
  const first = conditions.get(Object.keys(index.fields)[0] ?? '')
  return exactValuesOf(first) !== undefined || isRange(first)
}

/** The filter asks for what the index holds and nothing else: then reading all of the index is no waste. */
function matchesPartial(index: Index, conditions: Conditions): boolean {
  if (!index.partial) return false
  const partial = conditionsOf(index.partial)
  return [...conditions].every(([path, condition]) => implies(partial.get(path), condition))
}

/** Walks the index along the sort: a field fixed by the filter may be passed over, any other must be the next one asked for. */
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
