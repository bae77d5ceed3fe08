// Brings documents to a wanted state, from any state, while other processes may do the same. Every step reads first and writes only
// what differs: a repeated run writes nothing, and an interrupted run can be repeated.
import { isDeepStrictEqual } from 'node:util'
import type { Docs, Operators, RevisedDoc } from './docs.ts'
import { LOST, retryAfterLostRace } from './lost-race.ts'
import { getOne } from './one-doc.ts'

/** `update` answers the changes that a stored document needs, or null when it needs none. */
export const ensure = <T extends RevisedDoc>(
  docs: Pick<Docs<T>, 'get' | 'insert' | 'change'>,
  id: string,
  wanted: { create: () => T; update: (stored: T) => Operators<T> | null },
): Promise<'created' | 'changed' | 'unchanged'> =>
  retryAfterLostRace(id, async () => {
    const stored = await getOne(docs, id)
    if (stored === undefined) {
      const [outcome] = await docs.insert([wanted.create()])
      return outcome === 'inserted' ? 'created' : LOST
    }
    const update = wanted.update(stored)
    if (update === null) return 'unchanged'
    const [outcome] = await docs.change([{ _id: id, rev: stored.rev, update }])
    return outcome === 'won' ? 'changed' : LOST
  })

/** Equal once stored: the order of members does not count, and JSON has no -0. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)))
