// Pages of documents as SQL. In: a condition and an order. Out: a statement, and its parameters for one page.

import type { Order } from '../index-coverage.ts'
import type { Parameter, Where } from './condition-sql.ts'

export interface Select {
  sql: string
  /** False when the matcher must test each document. */
  exact: boolean
  params(limit: number, offset: number): Parameter[]
}

export const selectUnordered = (table: string, where: Where): Select => ({
  sql: `SELECT doc FROM ${table} WHERE ${where.sql} LIMIT ? OFFSET ?`,
  exact: where.exact,
  params: (limit, offset) => [...where.params, limit, offset],
})

/** The SQL of a path's key. */
type KeySql = (path: string) => string

export const selectOrdered = (table: string, where: Where, order: Order, keySql: KeySql): Select => ({
  sql: `SELECT doc FROM ${table} WHERE ${where.sql}${orderBy(order, keySql)} LIMIT ? OFFSET ?`,
  exact: where.exact,
  params: (limit, offset) => [...where.params, limit, offset],
})

export interface SortedBranch {
  where: Where
  /** The order within the branch, without the fields that the branch fixes. */
  order: Order
}

/** Reads each branch in the order of its index, up to the end of the page, and sorts only the documents that were found. */
export function selectMerged(table: string, branches: readonly SortedBranch[], order: Order, keySql: KeySql): Select {
  const names = new Map(order.map(([path], i) => [path, `k${i}`]))
  const keys = [...names].map(([path, name]) => `, ${keySql(path)} AS ${name}`).join('')
  const found = branches.map(
    branch =>
      `SELECT * FROM (SELECT rowid AS r, doc${keys} FROM ${table} WHERE ${branch.where.sql}${orderBy(branch.order, keySql)} LIMIT ?)`,
  )
  const sorted = orderBy(order, path => names.get(path) ?? '')
  return {
    sql: `SELECT doc FROM (${found.join(' UNION ALL ')}) GROUP BY r${sorted} LIMIT ? OFFSET ?`,
    exact: branches.every(({ where }) => where.exact),
    params: (limit, offset) => [...branches.flatMap(({ where }) => [...where.params, limit + offset]), limit, offset],
  }
}

function orderBy(order: Order, nameOf: KeySql): string {
  const terms = order.map(([path, direction]) => `${nameOf(path)} ${direction === 1 ? 'ASC' : 'DESC'}`)
  return terms.length > 0 ? ` ORDER BY ${terms.join(', ')}` : ''
}
