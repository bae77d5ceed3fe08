// Group commit for many independent callers: what they read, insert and change in one tick, or while the engine is busy, goes
// together. Decorates a collection; each caller still gets its own answers.
import { gather } from '../gather.ts'
import type { Change, Doc, Docs, Revised } from './docs.ts'

const GROUP = { most: 500, parallel: 2 }

export function groupedDocs<T extends Doc>(docs: Docs<T>): Docs<T> {
  const get = gather<string, T | undefined>(async ids => {
    const found = await docs.get([...new Set(ids)])
    return ids.map(id => found.get(id))
  }, GROUP)
  const insert = gather<T, 'inserted' | 'duplicate'>(all => docs.insert(all), GROUP)
  const change = gather<Change<Revised>, 'won' | 'lost'>(
    changes => docs.change(changes as unknown as Parameters<Docs<T>['change']>[0]),
    GROUP,
  )
  return {
    ...docs,
    async get(ids) {
      const found = await get(ids)
      return new Map(ids.flatMap((id, at) => (found[at] === undefined ? [] : [[id, found[at]]])))
    },
    insert,
    change: changes => change(changes as readonly Change<Revised>[]),
  }
}
