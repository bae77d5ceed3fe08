// The SQL of names and of indexed values. An indexed value is a key that SQLite orders as MongoDB orders the value: null and missing
// first and equal, then numbers, then text by code point, then the rest. Null is the key minus infinity, which JSON cannot hold; SQL's
// NULL would not equal itself in a unique index. Booleans are blobs, because SQLite reads them from JSON as 0 and 1.
export const NULL_KEY = '-9e999'
export const FALSE_KEY = "x'0800'"
export const TRUE_KEY = "x'0801'"
/** The lowest text, and the lowest blob, which is above every text. */
export const TEXT_START = "''"
export const TEXT_END = "x''"

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** `a.b` as SQLite writes it, `'$."a"."b"'`. Throws for a name that could end the quotes. */
function jsonPath(path: string): string {
  const names = path.split('.')
  if (names.some(name => !/^[^"\\\p{Cc}]+$/u.test(name)))
    throw new TypeError(`Not a path for an index or a sort: ${path}`)
  return literal(`$${names.map(name => `."${name}"`).join('')}`)
}

/** The expression of an index, which a query must repeat literally. The `_id` has a column of its own. */
export function indexKey(path: string): string {
  const sql = keyCache.get(path) ?? buildIndexKey(path)
  keyCache.set(path, sql)
  return sql
}

/** By path. It cannot grow without end: the paths of indexes, filters and sorts are written in our code and do not come from requests. */
const keyCache = new Map([['_id', '_id']])

function buildIndexKey(path: string): string {
  const at = jsonPath(path)
  const value = `json_extract(doc,${at})`
  // Whole numbers past 2^53 are rounded as JavaScript rounds them.
  return (
    `CASE json_type(doc,${at}) WHEN 'text' THEN ${value} WHEN 'integer' THEN CAST(${value} AS REAL) WHEN 'real' THEN ${value} ` +
    `WHEN 'true' THEN ${TRUE_KEY} WHEN 'false' THEN ${FALSE_KEY} WHEN 'object' THEN x'03' WHEN 'array' THEN x'04' ELSE ${NULL_KEY} END`
  )
}

/** True where the path, or a part of it, holds a list. */
export const holdsList = (path: string): string =>
  path
    .split('.')
    .map((_, i, names) => `json_type(doc,${jsonPath(names.slice(0, i + 1).join('.'))}) = 'array'`)
    .join(' OR ')

/** A null exists and a missing value does not: the keys of both are equal, so this asks the document. */
export const exists = (path: string): string => `json_type(doc,${jsonPath(path)}) IS NOT NULL`
