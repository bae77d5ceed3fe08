// In: the fields of a log line. Out: a plain copy that is safe to write: secret members hidden, every text scrubbed, errors as type,
// message, stack and cause. This is the one place where log lines are made safe.
import { scrub } from './scrub.ts'
import { classifyMember } from './secret-members.ts'

const HIDDEN = '[hidden]'
const MAX_DEPTH = 8
const MAX_LIST_ITEMS = 100

type Fields = Record<string, unknown>

/** Never throws: a line that cannot be written must not fail a request. */
export function redact(fields: object): Fields {
  try {
    const safe = redactObject(fields, [])
    return typeof safe === 'object' && safe !== null && !Array.isArray(safe) ? { ...safe } : { value: safe }
  } catch {
    return { unreadable: true }
  }
}

function redactValue(value: unknown, ancestors: readonly object[]): unknown {
  if (typeof value === 'string') return scrub(value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'object' && value !== null) return redactObject(value, ancestors)
  return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
}

function redactObject(value: object, above: readonly object[]): unknown {
  if (above.includes(value)) return '[circular]'
  if (above.length >= MAX_DEPTH) return '[too deep]'
  const ancestors = [...above, value]
  if (isError(value)) return redactError(value, ancestors)
  if (Array.isArray(value)) return redactList(value, ancestors)
  if (value instanceof Set) return redactList([...value], ancestors)
  if (value instanceof Map)
    return redactMembers(
      [...value].map(([name, member]) => [String(name), member]),
      ancestors,
    )
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof String) return scrub(String(value))
  if ('toJSON' in value && typeof value.toJSON === 'function') return redactValue(value.toJSON(), ancestors)
  return redactMembers(Object.entries(value), ancestors)
}

function redactMembers(members: [string, unknown][], ancestors: readonly object[]): Fields {
  const copy: Fields = {}
  for (const [name, value] of members) {
    // An assignment to this name would change the prototype of the copy.
    if (name === '__proto__') continue
    const { safeName, secret } = classifyMember(name)
    copy[safeName] = secret ? hideValue(value) : redactValue(value, ancestors)
  }
  return copy
}

const redactList = (values: unknown[], ancestors: readonly object[]): unknown[] => {
  const shown = values.slice(0, MAX_LIST_ITEMS).map(value => redactValue(value, ancestors))
  return values.length > MAX_LIST_ITEMS ? [...shown, `[${values.length - MAX_LIST_ITEMS} more]`] : shown
}

/** Whether a secret was given is useful to know and is not secret itself. */
const hideValue = (value: unknown): unknown =>
  value === null || value === undefined || typeof value === 'boolean' ? value : HIDDEN

/** Only the members that every error has. Drivers add whole requests, answers and connections to theirs. */
function redactError(error: Error & { code?: unknown; errors?: unknown }, ancestors: readonly object[]): Fields {
  const fields: Fields = { type: scrub(String(error.name)), message: scrub(String(error.message)) }
  // A system code such as `ECONNREFUSED`. A one-time code begins with a digit.
  if (typeof error.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(error.code)) fields.code = error.code
  if (typeof error.stack === 'string') fields.stack = scrub(error.stack)
  if (error.cause !== undefined) fields.cause = redactValue(error.cause, ancestors)
  if (Array.isArray(error.errors)) fields.errors = redactList(error.errors, ancestors)
  return fields
}

const isError = (value: object): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]'
