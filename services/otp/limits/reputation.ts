// The reputation of a client address. In: an address. Out: the worst class of the address lists that contain it, found with at most five
// binary searches, one for each class.
//
// Each process checks every few seconds which versions of the lists are current, and reads those that it does not have. A classifier covers
// all lists and is replaced as a whole, so a caller never sees half of a list. Callers do not wait long for a large list: until it is read,
// the previous classifier is used.
import { createCache } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { withTimeout } from '../../../infra/timeout.ts'
import { loadVersion } from '../../domain/address-lists/chunks.ts'
import {
  ADDRESS_CLASSES,
  type AddressChunkDoc,
  type AddressClass,
  type AddressListDoc,
  findAllLists,
} from '../../domain/address-lists/documents.ts'
import { type AddressSet, includesAddress, unionOf } from '../../domain/address-lists/intervals.ts'
import { createRangeBuffer, parseAddress } from '../../domain/address-lists/notation.ts'
import type { CountersignStore } from '../../domain/collections.ts'

/** A send from an `abusive` address is refused; a `suspect` address (VPN, proxy, Tor, datacenter) gets a lower limit. */
export type Reputation = 'abusive' | 'suspect' | 'unknown'

/** An end user's address, as the address lists judge it now. */
export interface JudgedAddress {
  value: string
  reputation: Reputation
}

/** Null without a usable address. `context`: with which it is sealed. */
export async function judgeClientAddress(
  { keyring, reputation }: { keyring: Pick<Keyring, 'unseal'>; reputation(address: string): Promise<Reputation> },
  sealed: string | null,
  context: string,
): Promise<JudgedAddress | null> {
  if (sealed === null) return null
  const value = keyring.unseal(sealed, context)
  return { value, reputation: await reputation(value) }
}

export interface ReputationDeps {
  store: Pick<CountersignStore, 'docs'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** The address must be in the form that `publicIpAddress` of infra/ip-address.ts returns. */
export function createReputationLookup({ store, clock, log }: ReputationDeps) {
  const current = createCurrentClassifier({
    lists: store.docs('ip_lists'),
    chunks: store.docs('ip_chunks'),
    clock,
    log,
  })
  return async (address: string): Promise<Reputation> => {
    const worst = (await current())(address)
    if (worst === null) return 'unknown'
    return worst === 'abusive' ? 'abusive' : 'suspect'
  }
}

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

/** Null for an address in no list, and for a text that is no address. */
export type AddressClassifier = (address: string) => AddressClass | null

function createAddressClassifier(lists: readonly { class: AddressClass; set: AddressSet }[]): AddressClassifier {
  const classes = ADDRESS_CLASSES.flatMap(addressClass => {
    const sets = lists.filter(list => list.class === addressClass).map(({ set }) => set)
    return sets.length === 0 ? [] : [{ class: addressClass, ...unionOfSets(sets) }]
  })
  const address = createRangeBuffer()
  return text => {
    const words = parseAddress(text, address)
    if (words === 0) return null
    return classes.find(({ v4, v6 }) => includesAddress(words === 1 ? v4 : v6, address))?.class ?? null
  }
}

const unionOfSets = (sets: readonly AddressSet[]): AddressSet => {
  const v4 = sets.map(set => set.v4)
  const v6 = sets.map(set => set.v6)
  return { v4: unionOf(1, v4), v6: unionOf(4, v6) }
}
