// The SQL of names and of indexed values. A value in an index is one that SQLite compares as MongoDB does: null and missing alike and
// lowest, then numbers, then text by code point, then the rest. JSON knows no infinity, so the lowest can stand for null; a real NULL
// would be unlike itself in a unique index. Booleans are blobs, because SQLite reads them from JSON as 0 and 1.
export const NULL_KEY = '-9e999'
export const FALSE_KEY = "x'0800'"
export const TRUE_KEY = "x'0801'"
/** Text begins here and ends before the first blob. */
export const TEXT_START = "''"
export const TEXT_END = "x''"

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** `a.b` as SQLite writes it, `'$."a"."b"'`. A name that could end the quotes is refused: indexes and sorts have no such names. */
function jsonPath(path: string): string {
  const names = path.split('.')
  if (names.some(name => !/^[^"\\\p{Cc}]+$/u.test(name)))
    throw new TypeError(`Not a path for an index or a sort: ${path}`)
  return literal(`$${names.map(name => `."${name}"`).join('')}`)
}

/** The expression an index is made on and a query must repeat to the letter. A document's `_id` has a column of its own. */
export function indexKey(path: string): string {
  const sql = keyCache.get(path) ?? buildIndexKey(path)
  keyCache.set(path, sql)
  return sql
}

/** Paths of indexes and sorts: as many as the code has. */
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

/** A list at the path or on the way to it. */
export const holdsList = (path: string): string =>
  path
    .split('.')
    .map((_, i, names) => `json_type(doc,${jsonPath(names.slice(0, i + 1).join('.'))}) = 'array'`)
    .join(' OR ')

/** Null is there, missing is not: the one difference that is not in the key. */
export const exists = (path: string): string => `json_type(doc,${jsonPath(path)}) IS NOT NULL`
