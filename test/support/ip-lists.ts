// What the lists of a store say: of an address, as a process that has just started would be told, and of themselves.
import { expect } from 'chai'
import { loadVersion } from '../../infra/ip-lists/chunks.ts'
import { currentLists } from '../../infra/ip-lists/current.ts'
import { everyList, type IpListDoc } from '../../infra/ip-lists/documents.ts'
import type { AddressSet } from '../../infra/ip-lists/read.ts'
import type { CountersignStore } from '../../infra/store/collections.ts'
import type { IpClass } from '../../infra/tenancy/documents.ts'
import { capturedLog } from './captured-log.ts'
import { testClock } from './clock.ts'

export async function classesIn(store: CountersignStore, addresses: readonly string[]): Promise<(IpClass | null)[]> {
  const [lists, chunks] = [store.docs('ip_lists'), store.docs('ip_chunks')]
  const view = await currentLists({ lists, chunks, clock: testClock(), log: capturedLog().log })()
  return addresses.map(view)
}

export const listsIn = (store: CountersignStore): Promise<IpListDoc[]> => everyList(store.docs('ip_lists'))

/** Their ids only. */
export const chunksIn = async (store: CountersignStore): Promise<string[]> =>
  (await store.docs('ip_chunks').find({}, { sort: { _id: 1 }, limit: 10_000 })).map(({ _id }) => _id)

/** All that counts of each: without what is made at random. */
export async function meaningOf(store: CountersignStore): Promise<(Partial<IpListDoc> & { set: AddressSet | null })[]> {
  return Promise.all(
    (await listsIn(store)).map(async list => {
      const { version: _, rev: __, ...rest } = list
      const set = await loadVersion(store.docs('ip_chunks'), list)
      expect(set, `what ${list._id} names`).not.to.equal(null)
      return { ...rest, set }
    }),
  )
}
