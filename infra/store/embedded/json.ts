// Documents as JSON text and back. `purge_at` is the one Date: JSON writes it as ISO text, and `decode` makes it a Date again.
import type { Doc } from '../docs.ts'
import { isObject } from './values.ts'

export function decode<T extends Doc>(text: unknown): T {
  const doc: T = JSON.parse(text as string)
  if (typeof doc.purge_at === 'string') doc.purge_at = new Date(doc.purge_at)
  return doc
}

export type Encode = (doc: Doc) => string

/** Throws for a list at an indexed path: MongoDB indexes a list by its members, and SQLite cannot. `strict` also throws for values
 *  that JSON would change or drop without an error. */
export function createEncode(indexed: readonly (readonly string[])[], strict: boolean): Encode {
  return doc => {
    if (typeof doc._id !== 'string') throw new TypeError('An _id is a text')
    for (const path of indexed) refuseList(doc, path)
    if (strict) for (const [name, value] of Object.entries(doc)) refuseNonJson(value, name, name === 'purge_at')
    return JSON.stringify(doc)
  }
}

function refuseList(doc: Doc, path: readonly string[]): void {
  let value: unknown = doc
  for (const name of path) {
    if (!isObject(value)) break
    value = value[name]
  }
  if (Array.isArray(value)) throw new TypeError(`${path.join('.')} is indexed and cannot hold a list`)
}

function refuseNonJson(value: unknown, field: string, dateAllowed: boolean): void {
  if (Array.isArray(value)) for (const each of value) refuseNonJson(each, field, false)
  else if (isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value)))
    for (const each of Object.values(value)) refuseNonJson(each, field, false)
  else if (!isJson(value) && !(dateAllowed && value instanceof Date))
    throw new TypeError(`${field} holds what JSON has no word for`)
}

const isJson = (value: unknown): boolean =>
  value === null || ['string', 'boolean', 'undefined'].includes(typeof value) || Number.isFinite(value)
