// In: whatever was handed to the log. Out: a plain copy that is safe to write: secret members replaced by their name, every text
// scrubbed, errors as type, message, stack and cause. The one place where log lines are made safe.
import { memberName } from './names.ts'
import { scrub } from './scrub.ts'

const HIDDEN = '[hidden]'
const DEEPEST = 8
const WIDEST = 100

type Fields = Record<string, unknown>

/** Never throws: a line that cannot be read is not worth a request. */
export function redact(fields: object): Fields {
  try {
    const safe = safeObject(fields, [])
    return typeof safe === 'object' && safe !== null && !Array.isArray(safe) ? { ...safe } : { value: safe }
  } catch {
    return { unreadable: true }
  }
}

function safe(value: unknown, within: readonly object[]): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'object' && value !== null) return safeObject(value, within)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

function safeObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return '[circular]'
  if (above.length >= DEEPEST) return '[too deep]'
  const within = [...above, value]
  if (isError(value)) return safeError(value, within)
  if (Array.isArray(value)) return safeList(value, within)
  if (value instanceof Set) return safeList([...value], within)
  if (value instanceof Map)
    return safeMembers(
      [...value].map(([name, member]) => [String(name), member]),
      within,
    )
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof String) return scrub(String(value))
  if ('toJSON' in value && typeof value.toJSON === 'function') return safe(value.toJSON(), within)
  return safeMembers(Object.entries(value), within)
}

function safeMembers(members: [string, unknown][], within: readonly object[]): Fields {
  const copy: Fields = {}
  for (const [name, value] of members) {
    // Assigning to it would change the copy's prototype.
    if (name === '__proto__') continue
    const { shown, secret } = memberName(name)
    copy[shown] = secret ? hidden(value) : safe(value, within)
  }
  return copy
}

const safeList = (values: unknown[], within: readonly object[]): unknown[] => {
  const shown = values.slice(0, WIDEST).map(value => safe(value, within))
  return values.length > WIDEST ? [...shown, `[${values.length - WIDEST} more]`] : shown
}

/** Whether there was one at all is worth knowing, and tells nothing. */
const hidden = (value: unknown): unknown =>
  value === null || value === undefined || typeof value === 'boolean' ? value : HIDDEN

/** Only what every error has. Drivers hang whole requests, answers and connections on theirs. */
function safeError(error: Error & { code?: unknown; errors?: unknown }, within: readonly object[]): Fields {
  const fields: Fields = { type: scrub(String(error.name)), message: scrub(String(error.message)) }
  // `ECONNREFUSED` and its like; a one-time code begins with a digit.
  if (typeof error.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(error.code)) fields.code = error.code
  if (typeof error.stack === 'string') fields.stack = scrub(error.stack)
  if (error.cause !== undefined) fields.cause = safe(error.cause, within)
  if (Array.isArray(error.errors)) fields.errors = safeList(error.errors, within)
  return fields
}

const isError = (value: object): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
