// A filter as a WHERE clause. In: a filter, and the indexed paths. Out: SQL that finds every match. A path without an index may hold a
// list, which SQL cannot search well: its condition is left out, `exact` is false, and matcher.ts tests each document that is found.
import { branchesOf, type Condition, conditionsOf } from '../conditions.ts'
import type { Doc, Filter } from '../docs.ts'
import { implies } from '../implies.ts'
import type { CollectionSpec, Index } from '../store.ts'
import { type Columns, ID } from './columns.ts'
import { ALL, asLiteral, asParameter, type Bind, conditionTerms, UNKNOWN, type Where } from './condition-sql.ts'

/** The indexed paths of a collection, and the conditions of its partial indexes. */
export interface IndexedPaths {
  paths: Columns['searchable']
  partials: readonly { conditions: ReadonlyMap<string, Condition>; where: Where }[]
}

export function indexedPathsOf(spec: CollectionSpec, { searchable }: Columns): IndexedPaths {
  const partials = spec.indexes.flatMap(({ partial }) =>
    partial ? [{ conditions: conditionsOf(partial), where: partialWhere(partial, searchable) }] : [],
  )
  return { paths: searchable, partials }
}

/** The condition in the definition of a partial index, which takes no parameters. */
export function partialWhere(partial: NonNullable<Index['partial']>, paths: IndexedPaths['paths']): Where {
  const where = conditionsSql(conditionsOf(partial), paths, asLiteral)
  if (!where.exact || branchesOf(partial))
    throw new TypeError('A partial index needs whole numbers or text, and no $or')
  return where
}

export function whereOf<T extends Doc>(filter: Filter<T>, indexed: IndexedPaths): Where {
  const branches = branchesOf(filter)?.map(branch => whereOf(branch, indexed))
  return branches ? and([withoutBranches(filter, indexed), or(branches)]) : withoutBranches(filter, indexed)
}

/** The conditions outside of `$or`. */
function withoutBranches<T extends Doc>(filter: Filter<T>, indexed: IndexedPaths): Where {
  const conditions = conditionsOf(filter)
  return and([conditionsSql(conditions, indexed.paths, asParameter), ...partialsOf(conditions, indexed)])
}

/** SQLite uses a partial index only when the query repeats the condition of the index literally. */
const partialsOf = (conditions: ReadonlyMap<string, Condition>, { partials }: IndexedPaths): Where[] =>
  partials
    .filter(partial => [...partial.conditions].every(([path, wanted]) => implies(conditions.get(path), wanted)))
    .map(partial => partial.where)

function conditionsSql(conditions: ReadonlyMap<string, Condition>, paths: IndexedPaths['paths'], bind: Bind): Where {
  const members = [...conditions].flatMap(([name, condition]) => {
    const path = name === '_id' ? ID : paths.get(name)
    return path ? conditionTerms(path, condition, bind) : [UNKNOWN]
  })
  return and(members)
}

export function and(terms: readonly Where[]): Where {
  const restrictive = terms.filter(each => each.sql !== ALL.sql)
  return join(terms, restrictive.length > 0 ? restrictive.map(each => each.sql).join(' AND ') : ALL.sql)
}

function or(terms: readonly Where[]): Where {
  if (terms.some(each => each.sql === ALL.sql)) return terms.every(each => each.exact) ? ALL : UNKNOWN
  return join(terms, `(${terms.map(each => `(${each.sql})`).join(' OR ')})`)
}

const join = (terms: readonly Where[], sql: string): Where => ({
  sql,
  params: terms.flatMap(each => each.params),
  exact: terms.every(each => each.exact),
})
