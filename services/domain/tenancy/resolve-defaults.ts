// In: a stored value and its schema. Out: the value with its defaults.
// Members only a later release knows are passed over: two releases run side by side while one is rolled out. Anything else that
// does not parse was never accepted by us, and is thrown.
import type { z } from 'zod'

export function resolveDefaults<S extends z.ZodType>(schema: S, stored: unknown): z.output<S> {
  const first = schema.safeParse(stored)
  if (first.success) return first.data
  const known = structuredClone(stored)
  for (const issue of first.error.issues) if (issue.code === 'unrecognized_keys') drop(known, issue.path, issue.keys)
  return schema.parse(known)
}

function drop(value: unknown, path: readonly PropertyKey[], names: readonly string[]): void {
  let holder = value
  for (const part of path) holder = isObject(holder) ? holder[part] : undefined
  if (isObject(holder)) for (const name of names) delete holder[name]
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null
