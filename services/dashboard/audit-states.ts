// What an audit record keeps of the state before and after a change: the members that differ, and of anything long its
// length and digest. So a record is small however large its document is.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type JsonObject } from '../../infra/json-object.ts'

/** The longest text that is kept whole, in characters. */
const MAX_TEXT_LENGTH = 1_024
/** The longest that each of the two states may be, as JSON. */
const MAX_STATE_LENGTH = 16 * 1_024
/** About what a digest takes, with the name of its member. */
const DIGEST_LENGTH = 128

export interface States {
  before: unknown
  after: unknown
}

export function statesForAudit({ before, after }: States): States {
  const changed = changedMembers(before, after)
  return { before: stateForAudit(changed.before), after: stateForAudit(changed.after) }
}

export const stateForAudit = (state: unknown): unknown => shorten(withoutLongTexts(state), MAX_STATE_LENGTH)

/** Lists are compared as a whole, except where the state is a list: of that, the items that only one side has. */
function changedMembers(before: unknown, after: unknown): States {
  if (isJsonObject(before) && isJsonObject(after)) return changedInObjects(before, after)
  if (!Array.isArray(before) || !Array.isArray(after)) return { before, after }
  return { before: itemsMissingIn(after, before), after: itemsMissingIn(before, after) }
}

function changedInObjects(before: JsonObject, after: JsonObject): { before: JsonObject; after: JsonObject } {
  const changed = { before: new Map<string, unknown>(), after: new Map<string, unknown>() }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[name], after[name]]
    if (isDeepStrictEqual(old, now)) continue
    const inner = isJsonObject(old) && isJsonObject(now) ? changedInObjects(old, now) : { before: old, after: now }
    if (Object.hasOwn(before, name)) changed.before.set(name, inner.before)
    if (Object.hasOwn(after, name)) changed.after.set(name, inner.after)
  }
  return { before: Object.fromEntries(changed.before), after: Object.fromEntries(changed.after) }
}

function itemsMissingIn(others: readonly unknown[], items: readonly unknown[]): unknown[] {
  const there = new Set(others.map(item => JSON.stringify(item)))
  return items.filter(item => !there.has(JSON.stringify(item)))
}

function withoutLongTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT_LENGTH ? digestOf(value) : value
  if (Array.isArray(value)) return value.map(withoutLongTexts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member)]))
}

/** A value that is too long as a whole: the longest of its members become digests, or it does, where it has too many. */
function shorten(value: unknown, maxLength: number): unknown {
  const json = JSON.stringify(value) ?? ''
  if (json.length <= maxLength) return value
  if (typeof value === 'string') return digestOf(value)
  const members = isJsonObject(value) ? Object.entries(value) : []
  if (members.length === 0 || members.length * DIGEST_LENGTH > maxLength) return digestOf(json)
  const sized = members.map(([name, member]) => ({ name, member, length: (JSON.stringify(member) ?? '').length }))
  // The shortest first: what each leaves of its share is for the longer ones.
  sized.sort((one, other) => one.length - other.length)
  const shortened = new Map<string, unknown>()
  let left = maxLength
  for (const [at, { name, member, length }] of sized.entries()) {
    const share = Math.floor(left / (sized.length - at)) - name.length
    const kept = length <= share ? member : shorten(member, share)
    shortened.set(name, kept)
    left -= (kept === member ? length : JSON.stringify(kept).length) + name.length
  }
  return Object.fromEntries(members.map(([name]) => [name, shortened.get(name)]))
}

const digestOf = (text: string) => ({ length: text.length, sha256: createHash('sha256').update(text).digest('hex') })
