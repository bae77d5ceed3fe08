// What all lists say of an address now. In: the store. Out: the class of an address, or null. Each process looks every few seconds
// which versions count, and reads those it does not have. Whoever asks is answered from one view of all lists, old or new: a view is
// replaced as a whole, never changed.
import { cached } from '../cache.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Docs } from '../store/docs.ts'
import type { IpClass } from '../tenancy/documents.ts'
import { loadVersion } from './chunks.ts'
import { everyList, IP_CLASSES, type IpChunkDoc, type IpListDoc } from './documents.ts'
import { holds, unionOf } from './intervals.ts'
import { readAddress, scratch } from './notation.ts'
import { type AddressSet, emptySet } from './read.ts'

export interface CurrentParts {
  lists: Pick<Docs<IpListDoc>, 'find'>
  chunks: Pick<Docs<IpChunkDoc>, 'get'>
  clock: Pick<Clock, 'now'>
  log: Pick<Logger, 'warn'>
}

/** The worst class of the lists an address stands in. */
export type View = (address: string) => IpClass | null

const FOR_MS = 4_000
const TRIES = 5

interface Held {
  class: IpClass
  version: string
  set: AddressSet
}

export function currentLists({ lists, chunks, clock, log }: CurrentParts): () => Promise<View> {
  let held = new Map<string, Held>()
  let view = viewOf([])

  const listed = async (): Promise<IpListDoc[]> => (await everyList(lists)).filter(({ version }) => version !== null)

  /** The sets of all lists as they count now; null when one was replaced while we read it. */
  async function read(isLast: boolean): Promise<Map<string, Held> | null> {
    const read = new Map<string, Held>()
    for (const list of await listed()) {
      const before = held.get(list._id)
      const set = before?.version === list.version ? before.set : await loadVersion(chunks, list)
      if (set) read.set(list._id, { class: list.class, version: list.version ?? '', set })
      else if (!isLast) return null
      else {
        // It keeps changing, or was damaged: what is known of it goes on counting, and nobody's sends stop for it.
        log.warn({ list: list._id, version: list.version }, 'ip_list.unreadable')
        if (before) read.set(list._id, before)
      }
    }
    return read
  }

  async function refresh(): Promise<View> {
    let now: Map<string, Held> | null = null
    for (let nth = 1; now === null; nth += 1) now = await read(nth >= TRIES)
    if (!sameVersions(held, now)) view = viewOf([...now.values()])
    held = now
    return view
  }

  const fresh = cached(refresh, { forMs: FOR_MS, most: 1, clock })
  return () => fresh.get('view')
}

const sameVersions = (one: Map<string, Held>, other: Map<string, Held>): boolean =>
  one.size === other.size && [...one].every(([id, { set }]) => other.get(id)?.set === set)

function viewOf(held: readonly Held[]): View {
  const classes = IP_CLASSES.flatMap(of => {
    const sets = held.filter(list => list.class === of).map(({ set }) => set)
    return sets.length === 0 ? [] : [{ class: of, set: unionOfSets(sets) }]
  })
  const address = scratch()
  return text => {
    const words = readAddress(text, address)
    if (words === 0) return null
    const found = classes.find(({ set }) => holds(words === 1 ? set.v4 : set.v6, address))
    return found?.class ?? null
  }
}

const unionOfSets = (sets: readonly AddressSet[]): AddressSet =>
  sets.length === 0
    ? emptySet()
    : {
        v4: unionOf(
          1,
          sets.map(({ v4 }) => v4),
        ),
        v6: unionOf(
          4,
          sets.map(({ v6 }) => v6),
        ),
      }
