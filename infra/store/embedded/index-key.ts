// The keys of indexed values. A key is a value that SQLite orders as MongoDB orders the value it stands for: null and missing first and
// equal, then numbers, then text by code point, then the rest. Null is the key minus infinity, which JSON cannot hold; SQL's NULL would
// not equal itself in a unique index. Booleans are blobs, because 0 and 1 would be numbers.
//
// columns.ts stores the keys of indexed paths (`keyOf`). A sort by a path without an index computes them from the document (`keyInDoc`).
import { Buffer } from 'node:buffer'

export const NULL_KEY = '-9e999'
export const FALSE_KEY = "x'0800'"
export const TRUE_KEY = "x'0801'"
const OBJECT_KEY = "x'03'"
const LIST_KEY = "x'04'"
/** The lowest text, and the lowest blob, which is above every text. */
export const TEXT_START = "''"
export const TEXT_END = "x''"

export type Key = string | number | Buffer

const blob = (sql: string): Buffer => Buffer.from(sql.slice(2, -1), 'hex')
/** One object each, so that equal keys are identical. */
const BLOBS = { false: blob(FALSE_KEY), true: blob(TRUE_KEY), object: blob(OBJECT_KEY) }

/** The key of a value, as JSON stores the value. No list gets here. */
export function keyOf(value: unknown): Key {
  if (typeof value === 'string') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'boolean') return value ? BLOBS.true : BLOBS.false
  if (value instanceof Date) return keyOf(value.toJSON())
  return typeof value === 'object' && value !== null ? BLOBS.object : Number.NEGATIVE_INFINITY
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** The members along a path. Throws for a name that could end the quotes in SQL. */
export function namesOf(path: string): string[] {
  const names = path.split('.')
  if (names.some(name => !/^[^"\\\p{Cc}]+$/u.test(name)))
    throw new TypeError(`Not a path for an index or a sort: ${path}`)
  return names
}

/** `a.b` as SQLite writes it, `'$."a"."b"'`. */
function jsonPath(path: string): string {
  const members = namesOf(path).map(name => `."${name}"`)
  return literal(`$${members.join('')}`)
}

/** The SQL of the key of a path without a column. */
export function keyInDoc(path: string): string {
  const at = jsonPath(path)
  const value = `json_extract(doc,${at})`
  // Whole numbers past 2^53 are rounded as JavaScript rounds them.
  return (
    `CASE json_type(doc,${at}) WHEN 'text' THEN ${value} WHEN 'integer' THEN CAST(${value} AS REAL) WHEN 'real' THEN ${value} ` +
    `WHEN 'true' THEN ${TRUE_KEY} WHEN 'false' THEN ${FALSE_KEY} WHEN 'object' THEN ${OBJECT_KEY} WHEN 'array' THEN ${LIST_KEY} ` +
    `ELSE ${NULL_KEY} END`
  )
}

/** A null exists and a missing value does not: the keys of both are equal, so this asks the document. */
export const existsInDoc = (path: string): string => `json_type(doc,${jsonPath(path)}) IS NOT NULL`
