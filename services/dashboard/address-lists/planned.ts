// What a PUT of /ip-lists changes. In: the lists it gives, and those that are stored. Out: the documents as they will be, and the text
// of each that has to be read; or what cannot be. An address is asked again whenever it is put: that is how to refresh it now.
import { Buffer } from 'node:buffer'
import type { Operators } from '../../../infra/store/docs.ts'
import { digestOf } from '../../domain/address-lists/bootstrap.ts'
import { type IpListDoc, type ListSource, listId } from '../../domain/address-lists/documents.ts'
import { claimedBy, newVersion, type Obtained } from '../../domain/address-lists/imports.ts'
import type { Problem } from '../../domain/tenancy/problems.ts'
import type { GivenList } from './given.ts'

export interface Planned {
  /** As it will be. */
  list: IpListDoc
  /** What it is computed from; null for a new one. */
  rev: number | null
  changed: Operators<IpListDoc>
  /** To be read now; null when its address will be asked. */
  text: Obtained | null
}

export function planned(
  given: readonly GivenList[],
  stored: readonly IpListDoc[],
  now: number,
): { changes: Planned[] } | { problems: Problem[] } {
  const known = new Map(stored.map(list => [list._id, list]))
  const knownAs = (one: GivenList) => known.get(listId(one.class, one.name)) ?? null
  const problems = given.flatMap((one, at) => problemOf(one, knownAs(one), `lists.${at}`))
  if (problems.length > 0) return { problems }
  return { changes: given.flatMap(one => planOf(one, knownAs(one), now) ?? []) }
}

function problemOf(
  { cidrs, text, url, refresh_seconds }: GivenList,
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
function planOf(given: GivenList, stored: IpListDoc | null, now: number): Planned | null {
  const text = given.text ?? given.cidrs?.join('\n')
  if (text !== undefined) return planText(given, stored, text, now)
  const url = given.url ?? (stored?.source.kind === 'url' ? stored.source.url : undefined)
  if (url === undefined) return null
  const refresh_seconds = refreshOf(given, stored)
  if (given.url === undefined && refresh_seconds === stored?.refresh_seconds) return null
  // Without what is known of its version: a put has it all read again.
  const source: ListSource = { kind: 'url', url, etag: null }
  const due = { status: 'waiting', importing: null, due_at: now } as const
  return change(given, stored, { source, refresh_seconds, ...due }, null)
}

/** An address that is put says all that is to be; a list that is only named keeps what it had. */
const refreshOf = ({ url, refresh_seconds }: GivenList, stored: IpListDoc | null): number | null =>
  refresh_seconds === undefined ? (url === undefined ? (stored?.refresh_seconds ?? null) : null) : refresh_seconds

function planText(given: GivenList, stored: IpListDoc | null, text: string, now: number): Planned | null {
  const digest = digestOf(text)
  if (stored?.source.kind === 'given' && stored.source.digest === digest && stored.status === 'ready') return null
  // The digest is known once it is read: cut short, the same text must count as new.
  const fields = { source: { kind: 'given', digest: '' } as const, refresh_seconds: null }
  const claim = claimedBy(newVersion(now), now)
  const obtained = { bytes: Buffer.from(text), source: { kind: 'given', digest } as const }
  return change(given, stored, { ...fields, ...claim }, obtained)
}

function change(
  given: GivenList,
  stored: IpListDoc | null,
  fields: Pick<IpListDoc, 'source' | 'refresh_seconds' | 'status' | 'importing' | 'due_at'>,
  text: Obtained | null,
): Planned {
  const list = { ...(stored ?? newList(given)), ...fields, problem: null }
  return { list, rev: stored?.rev ?? null, changed: { $set: { ...fields, problem: null } }, text }
}

const newList = ({ class: of, name }: GivenList) => ({
  ...{ _id: listId(of, name), class: of, name, rev: 0 },
  ...{ version: null, chunks: 0, counts: null, refreshed_at: null },
})
