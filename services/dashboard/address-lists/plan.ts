// What a PUT of /ip-lists changes. In: the lists of the body, and the stored lists. Out: the changed documents, each with the content that
// is to be imported now; or the problems. A URL in the body is always fetched again, so that an operator can refresh a list at any time.
import { Buffer } from 'node:buffer'
import type { Operators } from '../../../infra/store/docs.ts'
import { type AddressListDoc, digestOf, type ListSource, listId } from '../../domain/address-lists/documents.ts'
import { importLease, type ListContent, newVersion } from '../../domain/address-lists/imports.ts'
import { shareOf } from '../../domain/address-lists/most-addresses.ts'
import type { InputProblem } from '../../domain/tenancy/problems.ts'
import type { ListInput } from './body.ts'
import type { ParsedInput } from './confirmation.ts'

export interface ListChange {
  /** The document after the change. */
  list: AddressListDoc
  /** The revision of the stored document; null for a new list. */
  rev: number | null
  update: Operators<AddressListDoc>
  /** To be imported now; null when the sweeper fetches the URL. */
  content: ListContent | null
}

export function planListChanges(
  given: readonly ParsedInput[],
  stored: readonly AddressListDoc[],
  now: number,
): { changes: ListChange[] } | { problems: InputProblem[] } {
  const storedById = new Map(stored.map(list => [list._id, list]))
  const storedList = (one: ListInput) => storedById.get(listId(one.class, one.name)) ?? null
  const problems = given.flatMap((one, at) => listProblems(one, storedList(one), `lists.${at}`))
  if (problems.length > 0) return { problems }
  return { changes: given.flatMap(one => planList(one, storedList(one), now) ?? []) }
}

function listProblems(
  { cidrs, text, url, refresh_seconds }: ListInput,
  stored: AddressListDoc | null,
  path: string,
): InputProblem[] {
  if ((cidrs ?? text ?? url) !== undefined) return []
  if (!stored) return [{ path, message: 'is a new list and needs cidrs, text or url' }]
  if (stored.source.kind !== 'url' && typeof refresh_seconds === 'number')
    return [{ path: `${path}.refresh_seconds`, message: 'is for a list with a url' }]
  return []
}

/** Null when nothing changes. */
function planList(given: ParsedInput, stored: AddressListDoc | null, now: number): ListChange | null {
  const text = given.text ?? given.cidrs?.join('\n')
  if (text !== undefined) return planText(given, stored, text, now)
  const url = given.url ?? (stored?.source.kind === 'url' ? stored.source.url : undefined)
  if (url === undefined) return null
  const refresh_seconds = refreshSeconds(given, stored)
  if (given.url === undefined && refresh_seconds === stored?.refresh_seconds) return null
  // No etag: the whole content is fetched again.
  const source: ListSource = { kind: 'url', url, etag: null }
  const due = { status: 'waiting', importing: null, due_at: now } as const
  return createListChange(given, stored, { source, refresh_seconds, ...due }, null)
}

/** With a URL in the body, an omitted refresh_seconds means none. Without one, the list keeps the stored value. */
const refreshSeconds = ({ url, refresh_seconds }: ListInput, stored: AddressListDoc | null): number | null =>
  refresh_seconds === undefined ? (url === undefined ? (stored?.refresh_seconds ?? null) : null) : refresh_seconds

function planText(given: ParsedInput, stored: AddressListDoc | null, text: string, now: number): ListChange | null {
  const source = { kind: 'given', digest: digestOf(text), confirmed: given.confirm === true } as const
  if (stored && isSameText(stored.source, source) && stored.status === 'ready') return null
  // The import saves the digest when it has succeeded. If it is interrupted, a PUT of the same text starts it again.
  const fields = { source: { kind: 'given', digest: '', confirmed: false } as const, refresh_seconds: null }
  const lease = importLease(newVersion(now), now, given.set && shareOf(given.set))
  const content = { bytes: Buffer.from(text), source }
  return createListChange(given, stored, { ...fields, ...lease }, content)
}

type GivenSource = Extract<ListSource, { kind: 'given' }>

const isSameText = (stored: ListSource, { digest, confirmed }: GivenSource): boolean =>
  stored.kind === 'given' && stored.digest === digest && stored.confirmed === confirmed

function createListChange(
  given: ListInput,
  stored: AddressListDoc | null,
  fields: Pick<AddressListDoc, 'source' | 'refresh_seconds' | 'status' | 'importing' | 'due_at'>,
  content: ListContent | null,
): ListChange {
  const list = { ...(stored ?? newList(given)), ...fields, problem: null }
  return { list, rev: stored?.rev ?? null, update: { $set: { ...fields, problem: null } }, content }
}

const newList = ({ class: addressClass, name }: ListInput) => ({
  _id: listId(addressClass, name),
  class: addressClass,
  name,
  rev: 0,
  version: null,
  chunks: 0,
  counts: null,
  refreshed_at: null,
})
