// Group commit for many independent callers: what they read, insert and change in one tick, or while the engine is busy, goes
// together. Decorates a collection; each caller still gets its own answers.
import { createBatcher } from '../batcher.ts'
import type { Change, Doc, Docs, RevisedDoc } from './docs.ts'

const BATCH_LIMITS = { maxSize: 500, parallel: 2 }

export function batchDocs<T extends Doc>(docs: Docs<T>): Docs<T> {
  const get = createBatcher<string, T | undefined>(async ids => {
    const found = await docs.get([...new Set(ids)])
    return ids.map(id => found.get(id))
  }, BATCH_LIMITS)
  const insert = createBatcher<T, 'inserted' | 'duplicate'>(all => docs.insert(all), BATCH_LIMITS)
  const change = createBatcher<Change<RevisedDoc>, 'won' | 'lost'>(
    changes => docs.change(changes as unknown as Parameters<Docs<T>['change']>[0]),
    BATCH_LIMITS,
  )
  return {
    ...docs,
    async get(ids) {
      const found = await get(ids)
      return new Map(ids.flatMap((id, at) => (found[at] === undefined ? [] : [[id, found[at]]])))
    },
    insert,
    change: changes => change(changes as readonly Change<RevisedDoc>[]),
  }
}
