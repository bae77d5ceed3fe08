// Documents as JSON text and back. `purge_at` is the one Date: JSON writes it as ISO text, and `decode` makes it a Date again.
import type { Doc } from '../docs.ts'
import { asJson, isJson, isObject } from './values.ts'

export function decode<T extends Doc>(text: unknown): T {
  const doc: T = JSON.parse(text as string)
  if (typeof doc.purge_at === 'string') doc.purge_at = new Date(doc.purge_at)
  return doc
}

/** The document as `decode` would answer it. It shares with `doc` what JSON leaves as it is. */
export function asStored<T extends Doc>(doc: T): T {
  const { purge_at } = doc
  if (purge_at === undefined) return asJson(doc) as T
  if (purge_at instanceof Date && hasJsonBeside(doc, 'purge_at')) return doc
  const time = typeof purge_at === 'string' ? new Date(purge_at) : purge_at
  return { ...(asJson({ ...doc, purge_at: null }) as T), purge_at: time }
}

function hasJsonBeside(doc: Doc, except: string): boolean {
  for (const name in doc) if (name !== except && !isJson(doc[name as keyof Doc])) return false
  return true
}

export type Encode = (doc: Doc) => string

/** `strict` throws for values that JSON would change or drop without an error. */
export function createEncode(strict: boolean): Encode {
  return doc => {
    if (typeof doc._id !== 'string') throw new TypeError('An _id is a text')
    if (strict) for (const [name, value] of Object.entries(doc)) refuseNonJson(value, name, name === 'purge_at')
    return JSON.stringify(doc)
  }
}

function refuseNonJson(value: unknown, field: string, dateAllowed: boolean): void {
  if (Array.isArray(value)) for (const each of value) refuseNonJson(each, field, false)
  else if (isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value)))
    for (const each of Object.values(value)) refuseNonJson(each, field, false)
  else if (!isJson(value) && value !== undefined && value !== 0 && !(dateAllowed && value instanceof Date))
    throw new TypeError(`${field} holds what JSON has no word for`)
}
