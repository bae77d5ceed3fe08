// The objects in a list of the bootstrap file, with the paths that problems name. In: an object of the file, or its whole content, of any
// shape. Out: the objects of the list; what is not one is skipped.
import { isJsonObject, type JsonObject } from '../../../infra/json-object.ts'

export interface ObjectAtPath {
  path: string
  value: JsonObject
}

export const wholeFile = (file: unknown): ObjectAtPath => ({ path: '', value: isJsonObject(file) ? file : {} })

export function objectsIn(holder: ObjectAtPath, name: string): ObjectAtPath[] {
  const members = holder.value[name]
  if (!Array.isArray(members)) return []
  const path = holder.path === '' ? name : `${holder.path}.${name}`
  return members.flatMap((value: unknown, at) => (isJsonObject(value) ? [{ path: `${path}.${at}`, value }] : []))
}
