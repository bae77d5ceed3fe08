// Compares settings. In: the saved settings, and a draft of them. Out: the change that makes the one the other, as PATCH /apps/{id} takes
// it: objects member by member, lists and values as a whole, null for a member that the draft does not have. Pure.
import type { Schemas } from '../api/schema.ts'

export type Settings = Schemas['AppSettings']

/** Settings while they are edited. In place of a number there may be a text that is no number yet: the server refuses it by its path. */
export type Drafted<T> = T extends number
  ? number | string
  : T extends number[]
    ? number[] | string
    : T extends (infer Item)[]
      ? Drafted<Item>[]
      : T extends object
        ? { [Name in keyof T]: Drafted<T[Name]> }
        : T

export type DraftedSettings = Drafted<Settings>

type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two values are the same as JSON. The order of an object's members makes no difference. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (isObject(one) && isObject(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)])
    return [...names].every(name => sameValue(one[name], other[name]))
  }
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => sameValue(item, other[at]))
  return one === other
}

/** Null when nothing differs. */
export function patchOf(saved: object, draft: object): JsonObject | null {
  const [before, after] = [saved as JsonObject, draft as JsonObject]
  const patch: JsonObject = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (sameValue(old, now)) continue
    patch[name] = isObject(old) && isObject(now) ? patchOf(old, now) : (now ?? null)
  }
  return Object.keys(patch).length === 0 ? null : patch
}

/** The members of a form that differ from those with which it was opened: a change of these alone keeps what a colleague has saved in the
 *  others meanwhile. */
export const changedMembers = <T extends object>(opened: Readonly<Record<keyof T, unknown>>, now: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(now).filter(([name, value]) => !sameValue(opened[name as keyof T], value)),
  ) as Partial<T>

/** The draft on fresh settings: what was edited stays, and everything else is as in `fresh`. `base`: what the draft was made of. */
export function rebase<T extends object>(base: object, draft: T, fresh: object): T {
  const [before, edited, now] = [base as JsonObject, draft as JsonObject, fresh as JsonObject]
  const names = new Set([...Object.keys(edited), ...Object.keys(now)])
  const members = [...names].flatMap(name => {
    const [old, mine, theirs] = [before[name], edited[name], now[name]]
    const value = sameValue(old, mine)
      ? theirs
      : isObject(mine) && isObject(theirs)
        ? rebase(isObject(old) ? old : {}, mine, theirs)
        : mine
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(members) as T
}

/** The paths of members that the draft edits and that have got another value in `fresh`. `base`: what the draft was made of. */
export function conflictsOf(base: object, draft: object, fresh: object, above = ''): string[] {
  const [before, edited, now] = [base as JsonObject, draft as JsonObject, fresh as JsonObject]
  return Object.keys({ ...before, ...edited, ...now }).flatMap(name => {
    const [old, mine, theirs] = [before[name], edited[name], now[name]]
    if (sameValue(old, mine) || sameValue(old, theirs) || sameValue(mine, theirs)) return []
    const path = `${above}${name}`
    return isObject(mine) && isObject(theirs) ? conflictsOf(isObject(old) ? old : {}, mine, theirs, `${path}.`) : [path]
  })
}

/** The type of the member at a dotted path. */
export type MemberAt<T, Path extends string> = Path extends `${infer Name}.${infer Rest}`
  ? Name extends keyof T
    ? MemberAt<T[Name], Rest>
    : never
  : Path extends keyof T
    ? T[Path]
    : never

/** The same object with another value at a dotted path. */
export function withValueAt<T extends object>(object: T, path: string, value: unknown): T {
  const [name = '', ...rest] = path.split('.')
  const member = (object as JsonObject)[name]
  return { ...object, [name]: isObject(member) && rest.length > 0 ? withValueAt(member, rest.join('.'), value) : value }
}

/** The value at a dotted path; undefined where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? (at as JsonObject)[name] : undefined),
      value,
    )
}
