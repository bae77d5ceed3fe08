// The SQL of one collection. In: its declaration, filters and sorts. Out: the SQL of its table, indexes and statements.
import { conditionsOf, exactValuesOf } from '../conditions.ts'
import type { Doc, Filter, Sort } from '../docs.ts'
import { keyOf, type Order, orderOf } from '../index-coverage.ts'
import type { CollectionSpec, Index } from '../store.ts'
import { type Branch, splitFilter } from './branches.ts'
import { type Column, type Columns, columnsOf, PURGE_TIME } from './columns.ts'
import type { Where } from './condition-sql.ts'
import { and, type IndexedPaths, indexedPathsOf, partialWhere, whereOf } from './filter-sql.ts'
import { quoted } from './index-key.ts'
import { type Select, selectMerged, selectOrdered, selectUnordered } from './select.ts'

export interface IndexSql {
  name: string
  sql: string
}

export type Table = ReturnType<typeof tableOf>

export function tableOf(collection: string, spec: CollectionSpec) {
  const table = quoted(collection)
  const columns = columnsOf(spec)
  const indexed = indexedPathsOf(spec, columns)
  const names = ['_id', ...columns.stored.map(({ name }) => name), 'doc']
  // The document is the last column, because SQLite reads a row from its start.
  const definitions = [
    '_id TEXT NOT NULL PRIMARY KEY',
    ...columns.stored.map(({ definition }) => definition),
    'doc TEXT NOT NULL',
  ]

  /** The last parameter is the limit. */
  function count<T extends Doc>(filter: Filter<T>): Where {
    const where = whereOf(filter, indexed)
    return { ...where, sql: `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${where.sql} LIMIT ?)` }
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
    if (only && branches.length === 1) return selectOrdered(table, only.where, only.order, columns.keySql)
    return selectMerged(table, branches, order, columns.keySql)
  }
  /** Takes the values of the changed columns, the document and the `_id`. SQLite leaves an index alone that has none of them. */
  const replace = (changed: readonly Column[]): string =>
    `UPDATE ${table} SET ${changed.map(({ name }) => `${name} = ?, `).join('')}doc = ? WHERE _id = ?`
  return {
    collection,
    spec,
    columns: columns.stored,
    columnValues: (doc: Doc) => columns.stored.map(column => column.valueIn(doc)),
    indexes: [...declaredIndexes(collection, spec, columns), ...(spec.purged ? [purgeIndex(collection)] : [])],
    // The table has rowids because documents are large and ids random: a table in the order of `_id` took twice as long to fill.
    create: `CREATE TABLE ${table} (${definitions.join(', ')})`,
    get: `SELECT doc FROM ${table} WHERE _id = ?`,
    getMany: `SELECT doc FROM ${table} WHERE _id IN (SELECT value FROM json_each(?))`,
    /** Takes the `_id`, the values of the columns and the document. */
    insert: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
    replace,
    drop: `DELETE FROM ${table} WHERE _id = ?`,
    purge: `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} WHERE ${PURGE_TIME.name} <= ? LIMIT ?)`,
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
function declaredIndexes(collection: string, spec: CollectionSpec, columns: Columns): IndexSql[] {
  const taken = new Map<string, number>()
  return spec.indexes.map(index => {
    const fields = Object.entries(index.fields).map(([path, direction]) => `${path} ${direction}`)
    const plain = `${collection} {${fields.join(', ')}}`
    const occurrence = taken.get(plain) ?? 1
    taken.set(plain, occurrence + 1)
    return indexSql(collection, occurrence > 1 ? `${plain} #${occurrence}` : plain, index, columns)
  })
}

function indexSql(collection: string, name: string, index: Index, columns: Columns): IndexSql {
  const keys = keyOf(index).map(([path, direction]) => `${columns.keySql(path)} ${direction === 1 ? 'ASC' : 'DESC'}`)
  const where = index.partial ? ` WHERE ${partialWhere(index.partial, columns.searchable).sql}` : ''
  const sql = `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(collection)} (${keys.join(', ')})${where}`
  return { name, sql }
}

function purgeIndex(collection: string): IndexSql {
  const name = `${collection} to purge`
  const columns = `(${PURGE_TIME.name}) WHERE ${PURGE_TIME.name} IS NOT NULL`
  return { name, sql: `CREATE INDEX ${quoted(name)} ON ${quoted(collection)} ${columns}` }
}
