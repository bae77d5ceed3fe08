// What a PUT of /ip-lists changes. In: the lists it gives, and those that are stored. Out: the documents as they will be, and the text
// of each that has to be read; or what cannot be. An address is asked again whenever it is put: that is how to refresh it now.
import { Buffer } from 'node:buffer'
import type { Operators } from '../../../infra/store/docs.ts'
import { digestOf } from '../../domain/address-lists/bootstrap.ts'
import { type IpListDoc, type ListSource, listId } from '../../domain/address-lists/documents.ts'
import { importLease, type ListContent, newVersion } from '../../domain/address-lists/imports.ts'
import type { Problem } from '../../domain/tenancy/problems.ts'
import type { ListInput } from './body.ts'

export interface ListChange {
  /** As it will be. */
  list: IpListDoc
  /** What it is computed from; null for a new one. */
  rev: number | null
  update: Operators<IpListDoc>
  /** To be read now; null when its address will be asked. */
  text: ListContent | null
}

export function planListChanges(
  given: readonly ListInput[],
  stored: readonly IpListDoc[],
  now: number,
): { changes: ListChange[] } | { problems: Problem[] } {
  const storedById = new Map(stored.map(list => [list._id, list]))
  const storedList = (one: ListInput) => storedById.get(listId(one.class, one.name)) ?? null
  const problems = given.flatMap((one, at) => listProblems(one, storedList(one), `lists.${at}`))
  if (problems.length > 0) return { problems }
  return { changes: given.flatMap(one => planList(one, storedList(one), now) ?? []) }
}

function listProblems(
  { cidrs, text, url, refresh_seconds }: ListInput,
  stored: IpListDoc | null,
  path: string,
): Problem[] {
  if ((cidrs ?? text ?? url) !== undefined) return []
  if (!stored) return [{ path, message: 'there is no such list yet: it needs cidrs, text or url' }]
  if (stored.source.kind !== 'url' && typeof refresh_seconds === 'number')
    return [{ path: `${path}.refresh_seconds`, message: 'is for a list with a url' }]
  return []
}

/** Null when it is as wanted. */
function planList(given: ListInput, stored: IpListDoc | null, now: number): ListChange | null {
  const text = given.text ?? given.cidrs?.join('\n')
  if (text !== undefined) return planText(given, stored, text, now)
  const url = given.url ?? (stored?.source.kind === 'url' ? stored.source.url : undefined)
  if (url === undefined) return null
  const refresh_seconds = refreshSeconds(given, stored)
  if (given.url === undefined && refresh_seconds === stored?.refresh_seconds) return null
  // Without what is known of its version: a put has it all read again.
  const source: ListSource = { kind: 'url', url, etag: null }
  const due = { status: 'waiting', importing: null, due_at: now } as const
  return createListChange(given, stored, { source, refresh_seconds, ...due }, null)
}

/** An address that is put says all that is to be; a list that is only named keeps what it had. */
const refreshSeconds = ({ url, refresh_seconds }: ListInput, stored: IpListDoc | null): number | null =>
  refresh_seconds === undefined ? (url === undefined ? (stored?.refresh_seconds ?? null) : null) : refresh_seconds

function planText(given: ListInput, stored: IpListDoc | null, text: string, now: number): ListChange | null {
  const digest = digestOf(text)
  if (stored?.source.kind === 'given' && stored.source.digest === digest && stored.status === 'ready') return null
  // The digest is known once it is read: cut short, the same text must count as new.
  const fields = { source: { kind: 'given', digest: '' } as const, refresh_seconds: null }
  const importState = importLease(newVersion(now), now)
  const content = { bytes: Buffer.from(text), source: { kind: 'given', digest } as const }
  return createListChange(given, stored, { ...fields, ...importState }, content)
}

function createListChange(
  given: ListInput,
  stored: IpListDoc | null,
  fields: Pick<IpListDoc, 'source' | 'refresh_seconds' | 'status' | 'importing' | 'due_at'>,
  text: ListContent | null,
): ListChange {
  const list = { ...(stored ?? newList(given)), ...fields, problem: null }
  return { list, rev: stored?.rev ?? null, update: { $set: { ...fields, problem: null } }, text }
}

const newList = ({ class: of, name }: ListInput) => ({
  _id: listId(of, name),
  class: of,
  name,
  rev: 0,
  version: null,
  chunks: 0,
  counts: null,
  refreshed_at: null,
})
