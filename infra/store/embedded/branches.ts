// Splits a filter into filters that an index can each read in order: one per branch of `$or`, and one per value of an `$in` on a field
// before the sort. In one query SQLite would have to sort all matches, even for a short page.
import { branchesOf, conditionsOf, exactValuesOf } from '../conditions.ts'
import type { Doc, Filter, Sort } from '../docs.ts'

/** Filters joined by "and": one path may be in several of them. */
export type Branch<T extends Doc> = Filter<T>[]

/** More queries than this cost more than sorting does. */
const MAX_BRANCHES = 64

export function splitFilter<T extends Doc>(
  filter: Filter<T>,
  sort: Sort<T>,
  indexed: Pick<ReadonlySet<string>, 'has'>,
): Branch<T>[] {
  const { $or: _, ...shared } = filter
  const alternatives = branchesOf(filter)
  // A branch without an indexed path would scan the same documents once per branch.
  const selective = alternatives?.every(branch => Object.keys(branch).some(path => path === '_id' || indexed.has(path)))
  const branches = (selective && alternatives?.map(branch => [shared as Filter<T>, branch])) || [[filter]]
  const expanded = branches.flatMap(branch => cartesianProduct(branch.map(each => expandIn(each, sort, indexed))))
  return expanded.length <= MAX_BRANCHES ? expanded : [[filter]]
}

function expandIn<T extends Doc>(
  filter: Filter<T>,
  sort: Sort<T>,
  indexed: Pick<ReadonlySet<string>, 'has'>,
): Filter<T>[] {
  const several = [...conditionsOf(filter)].find(([path, condition]) => {
    const points = exactValuesOf(condition)?.length ?? 0
    return points > 1 && points <= MAX_BRANCHES && indexed.has(path) && !(path in sort)
  })
  if (!several) return [filter]
  const [path, condition] = several
  const { $in, ...others } = condition
  return ($in ?? []).map(point => ({ ...filter, [path]: { ...others, $eq: point } }))
}

const cartesianProduct = <A>(lists: readonly A[][]): A[][] =>
  lists.reduce<A[][]>((rows, list) => rows.flatMap(row => list.map(each => [...row, each])), [[]])
