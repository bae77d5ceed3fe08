// The SQL of one collection. In: its declaration, filters and sorts. Out: the SQL of its table, indexes and statements.
import { conditionsOf, exactValuesOf } from '../conditions.ts'
import type { Doc, Filter, Sort } from '../docs.ts'
import { keyOf, type Order, orderOf } from '../index-coverage.ts'
import type { CollectionSpec, Index } from '../store.ts'
import { type Branch, splitFilter } from './branches.ts'
import type { Where } from './condition-sql.ts'
import { and, type IndexedPaths, indexedPathsOf, partialWhere, whereOf } from './filter-sql.ts'
import { holdsList, indexKey, quoted } from './index-key.ts'
import { type Select, selectMerged, selectOrdered, selectUnordered } from './select.ts'

export interface IndexSql {
  name: string
  sql: string
}

export type Table = ReturnType<typeof tableOf>

const PURGE_AT = "json_extract(doc,'$.purge_at')"
const HAS_PURGE_AT = "json_type(doc,'$.purge_at') = 'text'"

export function tableOf(collection: string, spec: CollectionSpec) {
  const table = quoted(collection)
  const indexed = indexedPathsOf(spec)

  function count<T extends Doc>(filter: Filter<T>): Where {
    const where = whereOf(filter, indexed)
    return { ...where, sql: `SELECT count(*) FROM ${table} WHERE ${where.sql}` }
  }
  /** The last parameter is the limit. */
  function remove<T extends Doc>(filter: Filter<T>): Where {
    const where = whereOf(filter, indexed)
    return {
      ...where,
      sql: `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${where.sql} LIMIT ?)`,
    }
  }
  function find<T extends Doc>(filter: Filter<T>, sort: Sort<T>): Select {
    const order = orderOf(spec as CollectionSpec<T>, filter, sort)
    const branches = splitFilter(filter, sort, indexed.paths).map(branch => ({
      where: and(branch.map(each => whereOf(each, indexed))),
      order: withoutFixedFields(order, branch, indexed),
    }))
    const [only] = branches
    if (only && branches.length === 1) return selectOrdered(table, only.where, only.order)
    return selectMerged(table, branches, order)
  }
  return {
    collection,
    spec,
    /** Paths at which a document must not hold a list. */
    paths: [...indexed.paths].map(path => path.split('.')),
    indexes: [...declaredIndexes(collection, spec, indexed), ...(spec.purged ? [purgeIndex(collection)] : [])],
    // The table has rowids because documents are large and ids random: a table in the order of `_id` took twice as long to fill.
    create: `CREATE TABLE IF NOT EXISTS ${table} (_id TEXT NOT NULL PRIMARY KEY, doc TEXT NOT NULL)`,
    lists: [...indexed.paths].map(path => ({
      path,
      sql: `SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${holdsList(path)})`,
    })),
    get: `SELECT doc FROM ${table} WHERE _id = ?`,
    getMany: `SELECT doc FROM ${table} WHERE _id IN (SELECT value FROM json_each(?))`,
    insert: `INSERT INTO ${table} (_id, doc) VALUES (?, ?) ON CONFLICT DO NOTHING`,
    replace: `UPDATE ${table} SET doc = ? WHERE _id = ?`,
    drop: `DELETE FROM ${table} WHERE _id = ?`,
    purge: `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${PURGE_AT} <= ? AND ${HAS_PURGE_AT} LIMIT ?)`,
    count,
    remove,
    find,
    match: <T extends Doc>(filter: Filter<T>) => selectUnordered(table, whereOf(filter, indexed)),
  }
}

/** A field that the filter fixes to one value orders nothing, but SQLite would sort by it. */
const withoutFixedFields = <T extends Doc>(order: Order, branch: Branch<T>, { paths }: IndexedPaths): Order =>
  order.filter(
    ([path]) => !paths.has(path) || branch.every(each => exactValuesOf(conditionsOf(each).get(path))?.length !== 1),
  )

/** Named after collection and fields, so that a changed declaration of the same fields replaces the old index. */
function declaredIndexes(collection: string, spec: CollectionSpec, indexed: IndexedPaths): IndexSql[] {
  const taken = new Map<string, number>()
  return spec.indexes.map(index => {
    const fields = Object.entries(index.fields).map(([path, direction]) => `${path} ${direction}`)
    const plain = `${collection} {${fields.join(', ')}}`
    const occurrence = taken.get(plain) ?? 1
    taken.set(plain, occurrence + 1)
    return indexSql(collection, occurrence > 1 ? `${plain} #${occurrence}` : plain, index, indexed)
  })
}

function indexSql(collection: string, name: string, index: Index, indexed: IndexedPaths): IndexSql {
  const keys = keyOf(index).map(([path, direction]) => `${indexKey(path)} ${direction === 1 ? 'ASC' : 'DESC'}`)
  const where = index.partial ? ` WHERE ${partialWhere(index.partial, indexed.paths).sql}` : ''
  const sql = `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(collection)} (${keys.join(', ')})${where}`
  return { name, sql }
}

const purgeIndex = (collection: string): IndexSql => {
  const name = `${collection} to purge`
  return { name, sql: `CREATE INDEX ${quoted(name)} ON ${quoted(collection)} (${PURGE_AT}) WHERE ${HAS_PURGE_AT}` }
}
