// What all lists say of an address now. In: the store. Out: the class of an address, or null. Each process looks every few seconds
// which versions count, and reads those it does not have. Whoever asks is answered from one view of all lists, old or new: a view is
// replaced as a whole, never changed. A large list takes its time to read, and nobody waits long for it: until it is read, what was
// known goes on counting.
import { cached } from '../../../infra/cache.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { loadVersion } from '../../domain/address-lists/chunks.ts'
import type { IpClass } from '../../domain/address-lists/documents.ts'
import { everyList, type IpChunkDoc, type IpListDoc } from '../../domain/address-lists/documents.ts'
import type { AddressSet } from '../../domain/address-lists/read.ts'
import { type View, viewOf } from './view.ts'

export interface CurrentParts {
  lists: Pick<Docs<IpListDoc>, 'find'>
  chunks: Pick<Docs<IpChunkDoc>, 'get'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

const FOR_MS = 4_000
/** Small lists are read by then. */
const PATIENCE_MS = 250
const TRIES = 5

interface Held {
  class: IpClass
  version: string
  set: AddressSet
}

export function currentLists({ lists, chunks, clock, log }: CurrentParts): () => Promise<View> {
  let held = new Map<string, Held>()
  /** Null until all were read once: nobody is judged by half of them. */
  let view: View | null = null
  let reading: Promise<void> | null = null

  /** The sets of all lists as they count now; null when one was replaced while we read it. */
  async function read(isLast: boolean): Promise<Map<string, Held> | null> {
    const found = new Map<string, Held>()
    for (const list of await everyList(lists)) {
      const { _id, class: of, version } = list
      if (version === null) continue
      const before = held.get(_id)
      const set = before?.version === version ? before.set : await loadVersion(chunks, list)
      if (set) found.set(_id, { class: of, version, set })
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
    let now: Map<string, Held> | null = null
    for (let nth = 1; now === null; nth += 1) now = await read(nth >= TRIES)
    if (view === null || !sameSets(held, now)) view = viewOf([...now.values()])
    held = now
  }

  async function refresh(): Promise<void> {
    reading ??= replace().finally(() => {
      reading = null
    })
    if (view === null) return reading
    const read = reading.catch(error => log.warn({ err: error }, 'ip_list.unreadable'))
    let cancel = (): void => {}
    const late = new Promise<void>(resolve => {
      cancel = clock.after(PATIENCE_MS, resolve)
    })
    await Promise.race([read, late]).finally(() => cancel())
  }

  const looked = cached(refresh, { forMs: FOR_MS, most: 1, clock })
  return async () => {
    await looked.get('lists')
    return view ?? NOTHING
  }
}

const NOTHING: View = () => null

const sameSets = (one: Map<string, Held>, other: Map<string, Held>): boolean =>
  one.size === other.size && [...one].every(([id, { set }]) => other.get(id)?.set === set)
