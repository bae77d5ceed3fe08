// In: a stored value and its schema. Out: the value with its defaults.
// Unknown members are ignored: during a rolling deploy a newer release may have stored members that this one does not know. Any other
// value that does not parse is a bug, because only checked values are stored, and is thrown.
import type { z } from 'zod'

export function resolveDefaults<S extends z.ZodType>(schema: S, stored: unknown): z.output<S> {
  const first = schema.safeParse(stored)
  if (first.success) return first.data
  const known = structuredClone(stored)
  for (const issue of first.error.issues)
    if (issue.code === 'unrecognized_keys') deleteMembers(known, issue.path, issue.keys)
  return schema.parse(known)
}

function deleteMembers(value: unknown, path: readonly PropertyKey[], names: readonly string[]): void {
  let holder = value
  for (const part of path) holder = isObject(holder) ? holder[part] : undefined
  if (isObject(holder)) for (const name of names) delete holder[name]
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null
