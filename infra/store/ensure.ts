// Brings documents to a wanted state, from any state, while other processes may do the same. Every step reads first and writes only
// what differs: a repeated run writes nothing, and an interrupted run can be repeated.
import { isDeepStrictEqual } from 'node:util'
import type { Doc, Docs, Filter, Operators, RevisedDoc } from './docs.ts'
import { LOST, retryAfterLostRace } from './lost-race.ts'
import { getOne } from './one-doc.ts'
import { scanAll } from './scan.ts'

/** `update` answers the changes that a stored document needs, or null when it needs none. */
export const ensure = <T extends RevisedDoc>(
  docs: Pick<Docs<T>, 'get' | 'insert' | 'change'>,
  id: string,
  wanted: { create: () => T; update: (stored: T) => Operators<T> | null },
): Promise<'created' | 'changed' | 'kept'> =>
  retryAfterLostRace(id, async () => {
    const stored = await getOne(docs, id)
    if (stored === undefined) {
      const [outcome] = await docs.insert([wanted.create()])
      return outcome === 'inserted' ? 'created' : LOST
    }
    const update = wanted.update(stored)
    if (update === null) return 'kept'
    const [outcome] = await docs.change([{ _id: id, rev: stored.rev, update }])
    return outcome === 'won' ? 'changed' : LOST
  })

const BATCH = 500

/** Makes a whole collection exactly `wanted`. New documents are inserted before old ones are removed, so that readers always find one. */
export async function replaceAll<T extends Doc>(
  docs: Pick<Docs<T>, 'find' | 'insert' | 'modify' | 'remove'>,
  wanted: readonly T[],
  update: (stored: T, wanted: T) => Operators<T> | null,
): Promise<void> {
  const missing = new Map(wanted.map(doc => [doc._id, doc]))
  const extra: string[] = []
  const changes: [string, Operators<T>][] = []
  for await (const stored of scanAll(docs)) {
    const doc = missing.get(stored._id)
    const change = doc && update(stored, doc)
    if (change) changes.push([stored._id, change])
    if (!missing.delete(stored._id)) extra.push(stored._id)
  }
  for (const batch of batches([...missing.values()])) await docs.insert(batch)
  for (const [id, change] of changes) await docs.modify(withId<T>(id), change)
  for (const ids of batches(extra)) await docs.remove(withId<T>({ $in: ids }), ids.length)
}

/** The cast is needed because TypeScript does not see that every document has an `_id` to filter by. */
const withId = <T extends Doc>(id: string | { $in: string[] }): Filter<T> => ({ _id: id }) as Filter<T>

const batches = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / BATCH) }, (_, at) => items.slice(at * BATCH, (at + 1) * BATCH))

/** Equal once stored: the order of members does not count, and JSON has no -0. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))
