// Documents as text and back. `purge_at` is the one Date: JSON writes it as ISO text, and it is read back as the Date it was.
import type { Doc } from '../docs.ts'
import { isObject } from './values.ts'

export function decode<T extends Doc>(text: unknown): T {
  const doc: T = JSON.parse(text as string)
  if (typeof doc.purge_at === 'string') doc.purge_at = new Date(doc.purge_at)
  return doc
}

export type Encode = (doc: Doc) => string

/** In: the paths that are indexed and so must hold no list, which MongoDB would index by its members and SQL cannot. `strict` also
 *  refuses what JSON would quietly turn into something else. */
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
