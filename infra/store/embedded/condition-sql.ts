// One condition on one indexed path as SQL. A range finds only values of the type of its bound, as in MongoDB: `{ $gt: 5 }` finds no text.
import type { Condition } from '../conditions.ts'
import type { IndexedPath } from './columns.ts'
import { FALSE_KEY, NULL_KEY, TEXT_END, TEXT_START, TRUE_KEY } from './index-key.ts'

/** libsql ends the process when it gets a boolean, so a parameter is nothing else than these. */
export type Parameter = string | number

export interface Where {
  sql: string
  params: readonly Parameter[]
  /** False when the SQL may find documents that do not match. It never misses one that does. */
  exact: boolean
}

export const ALL: Where = { sql: '1', params: [], exact: true }
export const UNKNOWN: Where = { sql: '1', params: [], exact: false }
const NONE: Where = { sql: '0', params: [], exact: true }

/** How a value gets into SQL: as a parameter, or as a literal in the definition of an index. */
export type Bind = (value: Parameter) => Where
export const asParameter: Bind = value => ({ sql: '?', params: [value], exact: true })
/** Inexact for a fraction, because SQLite can misread the last bit of one that is written in SQL. */
export const asLiteral: Bind = value => ({
  sql: typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`,
  params: [],
  exact: typeof value === 'string' || Number.isSafeInteger(value),
})

export function conditionTerms(path: IndexedPath, condition: Condition, bind: Bind): Where[] {
  const terms = Object.entries(condition).map(([operator, operand]) => {
    const make = OPERATORS[operator]
    if (!make) throw new TypeError(`A filter knows no ${operator}`)
    return make(path, operand, bind)
  })
  return [...terms, ...typeBounds(path, condition)]
}

type Operator = (path: IndexedPath, operand: unknown, bind: Bind) => Where

const OPERATORS: Record<string, Operator> = {
  $eq: (path, operand, bind) => isOneOf(path, [operand], bind),
  $in: (path, operand, bind) => isOneOf(path, operand as unknown[], bind),
  $exists({ path, key, exists }, operand) {
    if (path === '_id') return operand ? ALL : NONE
    return { ...ALL, sql: operand ? exists : `${key} = ${NULL_KEY} AND NOT ${exists}` }
  },
  $gt: comparison('>'),
  $gte: comparison('>='),
  $lt: comparison('<'),
  $lte: comparison('<='),
}

/** A longer list of texts is one JSON parameter, because SQLite takes only some 32 000 parameters. */
const MAX_LISTED_VALUES = 1_000

function isOneOf(path: IndexedPath, operands: readonly unknown[], bind: Bind): Where {
  const points = operands.map(operand => valueSql(path, operand, bind)).filter(point => point !== NONE)
  const [first] = points
  if (!first) return NONE
  if (points.includes(UNKNOWN)) return UNKNOWN
  if (points.length === 1) return { ...first, sql: `${path.key} = ${first.sql}` }
  if (
    bind === asParameter &&
    points.length > MAX_LISTED_VALUES &&
    operands.every(operand => typeof operand === 'string')
  )
    return {
      sql: `${path.key} IN (SELECT value FROM json_each(?))`,
      params: [JSON.stringify(operands)],
      exact: true,
    }
  // Lists are padded to the next power of two, so that a few prepared statements serve every length.
  const padding = 2 ** Math.ceil(Math.log2(points.length)) - points.length
  const all = [...points, ...Array.from({ length: padding }, () => first)]
  return {
    sql: `${path.key} IN (${all.map(point => point.sql).join(',')})`,
    params: all.flatMap(point => point.params),
    exact: all.every(point => point.exact),
  }
}

function comparison(operator: string): Operator {
  return (path, operand, bind) => {
    if (typeof operand !== 'number' && typeof operand !== 'string' && !(operand instanceof Date))
      throw new TypeError(`A filter compares ${path.path} with what has no order`)
    if (isBoundless(operator, operand)) return ALL
    const point = valueSql(path, operand, bind)
    if (point === NONE || point === UNKNOWN) return point
    return { ...point, sql: `${path.key} ${operator} ${point.sql}` }
  }
}

const isBoundless = (operator: string, operand: unknown): boolean =>
  operand === (operator.startsWith('>') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY)

/** Keeps a range among values of the type of its bound. A range with one bound, `{ $gt: 5 }`, gets the end of the type as the other: here,
 *  below every text. A range with two bounds gets none: SQLite might search the index by that wider bound. */
function typeBounds({ key }: IndexedPath, { $gt, $gte, $lt, $lte }: Condition): Where[] {
  if (new Set([$gt, $gte, $lt, $lte].filter(each => each !== undefined).map(each => typeof each)).size > 1)
    return [NONE]
  const [lower, upper] = [$gt ?? $gte, $lt ?? $lte]
  const [start, end] = typeof (lower ?? upper) === 'number' ? [NULL_KEY, TEXT_START] : [TEXT_START, TEXT_END]
  const from = start === NULL_KEY ? '>' : '>='
  const terms: Where[] = []
  if (lower === undefined && upper === undefined) return terms
  if (lower === undefined || lower === Number.NEGATIVE_INFINITY) terms.push({ ...ALL, sql: `${key} ${from} ${start}` })
  if (upper === undefined || upper === Number.POSITIVE_INFINITY) terms.push({ ...ALL, sql: `${key} < ${end}` })
  return terms
}

/** The SQL of a value that a key is compared with. `NONE` where no stored value can equal it. */
function valueSql({ path }: IndexedPath, operand: unknown, bind: Bind): Where {
  if (operand instanceof Date) return UNKNOWN
  if (path === '_id' && typeof operand !== 'string') return NONE
  if (operand === null) return { ...ALL, sql: NULL_KEY }
  if (typeof operand === 'boolean') return { ...ALL, sql: operand ? TRUE_KEY : FALSE_KEY }
  if (typeof operand === 'string') return bind(operand)
  if (typeof operand !== 'number') throw new TypeError(`A filter compares ${path} with what is no scalar`)
  return Number.isFinite(operand) ? bind(operand) : NONE
}
