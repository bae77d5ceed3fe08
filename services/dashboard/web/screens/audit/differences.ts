// What a change changed. In: the state before and after, as JSON. Out: the changed paths, each with its old and its new value, in the order
// of the documents.
//
// A list of plain values is one value: its order matters, and its members have no names. Members of a list of objects are compared with the
// member of the same `id` or `name`; without such a member, equal ones are left out and the rest was removed or added.

import { isObject, sameValue } from '../../data/settings-patch.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export interface Difference {
  /** Dotted; empty for the state as a whole. */
  path: string
  /** Undefined where there was nothing. */
  before: Json | undefined
  /** Undefined where there is nothing now. */
  after: Json | undefined
}

export function differences(before: Json | undefined, after: Json | undefined, path = ''): Difference[] {
  if (sameValue(before, after)) return []
  if (isObject(before) && isObject(after)) return inObjects(before, after, path)
  // A new or a removed object is shown member by member.
  if (isObject(after) && isNothing(before) && !isEmpty(after)) return inObjects({}, after, path)
  if (isObject(before) && isNothing(after) && !isEmpty(before)) return inObjects(before, {}, path)
  if (isObjectList(before) && isObjectList(after)) return inLists(before, after, path)
  if (isObjectList(after) && isNothing(before) && after.length > 0) return inLists([], after, path)
  if (isObjectList(before) && isNothing(after) && before.length > 0) return inLists(before, [], path)
  return [{ path, before, after }]
}

type JsonObject = { [name: string]: Json }

function inObjects(before: JsonObject, after: JsonObject, path: string): Difference[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap(name => differences(before[name], after[name], path === '' ? name : `${path}.${name}`))
}

function inLists(before: readonly JsonObject[], after: readonly JsonObject[], path: string): Difference[] {
  const key = ['id', 'name'].find(name => isKey(name, before) && isKey(name, after))
  if (key === undefined) return unordered(before, after, path)
  const byKey = (list: readonly JsonObject[]) => new Map(list.map(item => [String(item[key]), item]))
  const [old, now] = [byKey(before), byKey(after)]
  return [...new Set([...old.keys(), ...now.keys()])].flatMap(id =>
    differences(old.get(id), now.get(id), `${path}[${id}]`),
  )
}

const isKey = (name: string, list: readonly JsonObject[]): boolean =>
  list.every(item => typeof item[name] === 'string') && new Set(list.map(item => item[name])).size === list.length

function unordered(before: readonly JsonObject[], after: readonly JsonObject[], path: string): Difference[] {
  const left = new Map<string, number>()
  for (const item of before) left.set(textOf(item), (left.get(textOf(item)) ?? 0) + 1)
  const added = after.filter(item => {
    const count = left.get(textOf(item)) ?? 0
    left.set(textOf(item), count - 1)
    return count <= 0
  })
  const removed = before.filter(item => {
    const count = left.get(textOf(item)) ?? 0
    left.set(textOf(item), count - 1)
    return count > 0
  })
  return [
    ...removed.map(item => ({ path: `${path}[]`, before: item, after: undefined })),
    ...added.map(item => ({ path: `${path}[]`, before: undefined, after: item })),
  ]
}

const isNothing = (value: Json | undefined): boolean => value === undefined || value === null

const isEmpty = (value: JsonObject): boolean => Object.keys(value).length === 0

const isObjectList = (value: Json | undefined): value is JsonObject[] => Array.isArray(value) && value.every(isObject)

/** The same text for the same JSON, in any order of its members. */
const textOf = (value: Json): string =>
  JSON.stringify(value, (_, member: Json) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  )
