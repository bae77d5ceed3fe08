// For tests of address lists: what a store's lists say of an address, what is stored of them, and a store whose user crashes.
import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import type { Clock } from '../../infra/clock.ts'
import { createExclusiveChange } from '../../infra/exclusive-change.ts'
import { loadVersion } from '../../services/domain/address-lists/chunks.ts'
import type { AddressClass } from '../../services/domain/address-lists/documents.ts'
import { type AddressListDoc, digestOf, findAllLists, listId } from '../../services/domain/address-lists/documents.ts'
import {
  type ImportDeps,
  importLease,
  type ListContent,
  newVersion,
} from '../../services/domain/address-lists/imports.ts'
import type { AddressSet } from '../../services/domain/address-lists/intervals.ts'
import type { CountersignStore } from '../../services/domain/collections.ts'
import { createCurrentClassifier } from '../../services/otp/limits/reputation.ts'
import { createCapturedLog } from './captured-log.ts'
import { testClock } from './clock.ts'
import { interceptWrites } from './tenancy.ts'

/** As a process that has just started would classify them. */
export async function classesIn(
  store: CountersignStore,
  addresses: readonly string[],
): Promise<(AddressClass | null)[]> {
  const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]
  const view = await createCurrentClassifier({ lists, chunks, clock: testClock(), log: createCapturedLog().log })()
  return addresses.map(view)
}

export const listsIn = (store: CountersignStore): Promise<AddressListDoc[]> => findAllLists(store.docs('ip_lists'))

/** The ids of all chunks. */
export const chunksIn = async (store: CountersignStore): Promise<string[]> =>
  (await store.docs('ip_chunks').find({}, { sort: { _id: 1 }, limit: 10_000 })).map(({ _id }) => _id)

/** All lists with their ranges, without random versions and revisions. */
export async function stableFieldsOf(
  store: CountersignStore,
): Promise<(Partial<AddressListDoc> & { set: AddressSet | null })[]> {
  return Promise.all(
    (await listsIn(store)).map(async list => {
      const { version: _, rev: __, ...rest } = list
      const set = await loadVersion(store.docs('ip_chunks'), list)
      expect(set, `what ${list._id} names`).not.to.equal(null)
      return { ...rest, set }
    }),
  )
}

/** A list with a new import lease, as a PUT leaves it. */
export async function listBeingImported(
  store: CountersignStore,
  { now, name = 'some', ...more }: { now: number } & Partial<AddressListDoc>,
): Promise<AddressListDoc> {
  const _id = listId('abusive', name)
  const stored = (await store.docs('ip_lists').get([_id])).get(_id)
  const list: AddressListDoc = {
    _id,
    class: 'abusive',
    name,
    rev: 0,
    source: { kind: 'given', digest: '', confirmed: false },
    refresh_seconds: null,
    version: null,
    chunks: 0,
    counts: null,
    refreshed_at: null,
    problem: null,
    ...stored,
    ...importLease(newVersion(now), now),
    ...more,
  }
  const { _id: __, ...fields } = list
  await store.docs('ip_lists').modify({ _id }, { $set: fields }, { upsert: true })
  return list
}

export const importDeps = (store: CountersignStore, clock: Clock): ImportDeps => ({
  store,
  clock,
  log: createCapturedLog().log,
  changeExclusively: createExclusiveChange({ leases: store.docs('leases'), clock }),
})

export const contentOfLines = (...lines: string[]): ListContent => ({
  bytes: Buffer.from(lines.join('\n')),
  source: { kind: 'given', digest: digestOf(lines.join('\n')), confirmed: false },
})

/** `count` addresses that are not adjacent. */
export const manyRanges = (count: number, octet = 11): string[] =>
  Array.from({ length: count }, (_, nth) => `${octet}.${nth >> 15}.${(nth >> 7) & 255}.${(nth & 127) * 2}`)

class SimulatedCrash extends Error {}

/** A store whose user crashes before or after its nth write. Later writes throw and do not reach the store. */
export function crashingStore(store: CountersignStore, nth: number, when: 'before' | 'after') {
  let writes = 0
  let dead = false
  const crash = (): never => {
    dead = true
    throw new SimulatedCrash()
  }
  const intercepted = interceptWrites(store, {
    before() {
      if (dead) throw new SimulatedCrash()
      writes += 1
      if (writes === nth && when === 'before') crash()
    },
    after() {
      if (writes === nth && when === 'after') crash()
    },
  })
  return { store: intercepted, died: () => dead, writes: () => writes }
}
