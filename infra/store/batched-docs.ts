// Group commit for many independent callers. In: a collection. Out: the same collection, where the reads, inserts, changes and
// updates that are asked for in one tick, or while the engine is busy, go together in one call each. Each caller gets its own answers.
import { createBatcher } from '../batcher.ts'
import type { Change, Doc, Docs, GroupUpdate } from './docs.ts'

const BATCH_LIMITS = { maxSize: 500, parallel: 2 }

export function batchDocs<T extends Doc>(docs: Docs<T>): Docs<T> {
  const get = createBatcher<string, T | undefined>(async ids => {
    const found = await docs.get([...new Set(ids)])
    return ids.map(id => found.get(id))
  }, BATCH_LIMITS)
  const insert = createBatcher<T, 'inserted' | 'duplicate'>(all => docs.insert(all), BATCH_LIMITS)
  const change = createBatcher<Change<T>, 'won' | 'lost'>(changes => docs.change(changes), BATCH_LIMITS)
  const update = createBatcher<GroupUpdate<T>, ('updated' | 'missing')[]>(async updates => {
    const answers = await docs.update(updates)
    let next = 0
    return updates.map(({ ids }) => {
      const first = next
      next += ids.length
      return answers.slice(first, next)
    })
  }, BATCH_LIMITS)
  return {
    ...docs,
    async get(ids, options) {
      // Rare, and one read of the engine for each id in any case.
      if (options?.certain) return docs.get(ids, options)
      const found = await get(ids)
      return new Map(ids.flatMap((id, at) => (found[at] === undefined ? [] : [[id, found[at]]])))
    },
    insert,
    change,
    update: async updates => (await update(updates)).flat(),
  }
}
