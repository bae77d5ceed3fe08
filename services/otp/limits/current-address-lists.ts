// The current classifier of client addresses. In: the store. Out: a classifier. Each process checks every few seconds which versions of
// the lists are current, and reads those that it does not have. A classifier covers all lists and is replaced as a whole, so a caller
// never sees half of a list. Callers do not wait long for a large list: until it is read, the previous classifier is used.
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { withTimeout } from '../../../infra/timeout.ts'
import { loadVersion } from '../../domain/address-lists/chunks.ts'
import {
  type AddressChunkDoc,
  type AddressClass,
  type AddressListDoc,
  findAllLists,
} from '../../domain/address-lists/documents.ts'
import type { AddressSet } from '../../domain/address-lists/intervals.ts'
import { type AddressClassifier, createAddressClassifier } from './address-classifier.ts'

export interface CurrentClassifierDeps {
  lists: Pick<Docs<AddressListDoc>, 'find'>
  chunks: Pick<Docs<AddressChunkDoc>, 'get'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const REFRESH_INTERVAL_MS = 4_000
/** Long enough to read small lists. */
const MAX_REFRESH_WAIT_MS = 250
const MAX_READ_TRIES = 5

interface LoadedList {
  class: AddressClass
  version: string
  set: AddressSet
}

export function createCurrentClassifier({
  lists,
  chunks,
  clock,
  log,
}: CurrentClassifierDeps): () => Promise<AddressClassifier> {
  let loaded = new Map<string, LoadedList>()
  /** Null until all lists were read once, because an incomplete classifier must not be used. */
  let classifier: AddressClassifier | null = null
  let reading: Promise<void> | null = null

  /** The sets of all lists; null when a list was replaced while it was read. */
  async function read(isLast: boolean): Promise<Map<string, LoadedList> | null> {
    const found = new Map<string, LoadedList>()
    for (const list of await findAllLists(lists)) {
      const { _id, class: addressClass, version } = list
      if (version === null) continue
      const before = loaded.get(_id)
      const set = before?.version === version ? before.set : await loadVersion(chunks, list)
      if (set) found.set(_id, { class: addressClass, version, set })
      else if (!isLast) return null
      else {
        // The list keeps changing, or its chunks are damaged. Its previous version is used, so that sends do not stop.
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
    await withTimeout(clock, MAX_REFRESH_WAIT_MS, read)
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
