// Compares stored values as MongoDB does: only values of one type, text by code point. index-key.ts does the same in SQL.

/** A missing value equals null. */
export function equal(value: unknown, operand: unknown): boolean {
  if (operand === null) return value === null || value === undefined
  if (operand instanceof Date) return value instanceof Date && value.getTime() === operand.getTime()
  return value === operand
}

/** Negative, 0 or positive; NaN for values of different types, which no range contains. */
export function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime()
  return Number.NaN
}

/** The order of all values in computed updates: missing, null, numbers, text, objects, lists, booleans, dates. */
export function compareAcrossTypes(a: unknown, b: unknown): number {
  const rank = rankOf(a) - rankOf(b)
  if (rank !== 0) return rank
  if (Array.isArray(a)) return compareLists(a, b as unknown[])
  if (isObject(a)) return compareObjects(Object.entries(a), Object.entries(b as object))
  return typeof a === 'boolean' ? Number(a) - Number(b) : compare(a, b) || 0
}

function rankOf(value: unknown): number {
  if (value instanceof Date) return 7
  if (Array.isArray(value)) return 5
  if (value === null) return 1
  return { undefined: 0, number: 2, string: 3, object: 4, boolean: 6 }[typeof value as string] ?? 8
}

const compareLists = (a: readonly unknown[], b: readonly unknown[]): number =>
  a.map((each, i) => (i < b.length ? compareAcrossTypes(each, b[i]) : 1)).find(each => each !== 0) ??
  a.length - b.length

/** Compares member by member: the type of the value, then the name, then the value. */
const compareObjects = (a: readonly [string, unknown][], b: readonly [string, unknown][]): number =>
  compareLists(
    a.flatMap(([name, value]) => [rankOf(value), name, value]),
    b.flatMap(([name, value]) => [rankOf(value), name, value]),
  )

/** Compares whole values. The order of an object's members counts, as in MongoDB. */
export const deepEqual = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** What JSON makes of a value. It shares with the value every part that JSON leaves as it is, so mostly it is the value itself. */
export function asJson(value: unknown): unknown {
  if (isJson(value)) return value
  if (value === 0) return 0 // JSON has no negative zero.
  if (Array.isArray(value)) return value.map(each => asJson(each) ?? null)
  if (isPlainObject(value)) {
    const members = Object.entries(value).map(([name, each]): [string, unknown] => [name, asJson(each)])
    return Object.fromEntries(members.filter(([, each]) => each !== undefined))
  }
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}

/** Whether JSON leaves a value as it is. By plain loops: every document that is written is asked, and almost all are. */
export function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (Array.isArray(value)) return value.every(isJson)
  if (!isPlainObject(value)) return false
  for (const name in value) if (!isJson(value[name])) return false
  return true
}

/** Without a class, and without a method that tells JSON what to write. */
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype && typeof value.toJSON !== 'function'

/** A copy that shares no object with the original. Values that JSON cannot hold are left out. */
export function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return value instanceof Date ? new Date(value) : JSON.parse(JSON.stringify(value))
}

export const isNullish = (value: unknown): boolean => value === null || value === undefined

/** Whether a computed condition takes a value for true. Empty texts and lists are true. */
export const truthy = (value: unknown): boolean => !isNullish(value) && value !== false && value !== 0

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** A member of the object itself, never of its prototype. */
export const member = (value: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined

// JavaScript orders text by UTF-16 units, which puts U+10000 and above before U+E000. Both engines order by code point.
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return codePointRank(x) - codePointRank(y)
  }
  return a.length - b.length
}

const codePointRank = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit)
