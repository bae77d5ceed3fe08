// What all lists say of an address now. In: the store. Out: the class of an address, or null. Each process looks every few seconds
// which versions count, and reads those it does not have. Whoever asks is answered from one view of all lists, old or new: a view is
// replaced as a whole, never changed. A large list takes its time to read, and nobody waits long for it: until it is read, what was
// known goes on counting.
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { loadVersion } from '../../domain/address-lists/chunks.ts'
import type { IpClass } from '../../domain/address-lists/documents.ts'
import { findAllLists, type IpChunkDoc, type IpListDoc } from '../../domain/address-lists/documents.ts'
import type { AddressSet } from '../../domain/address-lists/list-parser.ts'
import { type AddressClassifier, createAddressClassifier } from './address-classifier.ts'

export interface CurrentDeps {
  lists: Pick<Docs<IpListDoc>, 'find'>
  chunks: Pick<Docs<IpChunkDoc>, 'get'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const REFRESH_INTERVAL_MS = 4_000
/** Small lists are read by then. */
const MAX_REFRESH_WAIT_MS = 250
const MAX_READ_TRIES = 5

interface LoadedList {
  class: IpClass
  version: string
  set: AddressSet
}

export function createCurrentClassifier({ lists, chunks, clock, log }: CurrentDeps): () => Promise<AddressClassifier> {
  let loaded = new Map<string, LoadedList>()
  /** Null until all were read once: nobody is judged by half of them. */
  let classifier: AddressClassifier | null = null
  let reading: Promise<void> | null = null

  /** The sets of all lists as they count now; null when one was replaced while we read it. */
  async function read(isLast: boolean): Promise<Map<string, LoadedList> | null> {
    const found = new Map<string, LoadedList>()
    for (const list of await findAllLists(lists)) {
      const { _id, class: ipClass, version } = list
      if (version === null) continue
      const before = loaded.get(_id)
      const set = before?.version === version ? before.set : await loadVersion(chunks, list)
      if (set) found.set(_id, { class: ipClass, version, set })
      else if (!isLast) return null
      else {
        // It keeps changing, or was damaged: what is known of it goes on counting, and nobody's sends stop for it.
        log.warn({ list: _id, version }, 'ip_list.unreadable')
        if (before) found.set(_id, before)
      }
    }
    return found
  }

  async function replace(): Promise<void> {
    let now: Map<string, LoadedList> | null = null
    for (let nth = 1; now === null; nth += 1) now = await read(nth >= MAX_READ_TRIES)
    if (classifier === null || !sameSets(loaded, now)) classifier = createAddressClassifier([...now.values()])
    loaded = now
  }

  async function refresh(): Promise<void> {
    reading ??= replace().finally(() => {
      reading = null
    })
    if (classifier === null) return reading
    const read = reading.catch(error => log.warn({ err: error }, 'ip_list.unreadable'))
    let cancel = (): void => {}
    const late = new Promise<void>(resolve => {
      cancel = clock.after(MAX_REFRESH_WAIT_MS, resolve)
    })
    await Promise.race([read, late]).finally(() => cancel())
  }

  const refreshCache = createCache(refresh, { ttlMs: REFRESH_INTERVAL_MS, maxSize: 1, clock })
  return async () => {
    await refreshCache.get('lists')
    return classifier ?? NO_CLASS
  }
}

const NO_CLASS: AddressClassifier = () => null

const sameSets = (one: Map<string, LoadedList>, other: Map<string, LoadedList>): boolean =>
  one.size === other.size && [...one].every(([id, { set }]) => other.get(id)?.set === set)
