// In: a store, and what to do around each operation on its collections. Out: the same store, which does that.
import type { Doc, Docs } from './docs.ts'
import type { Collections, Store } from './store.ts'

export type AroundOperation = <R>(collection: string, operation: keyof Docs<Doc>, run: () => Promise<R>) => Promise<R>

export const aroundStore = <C extends Collections>(store: Store<C>, around: AroundOperation): Store<C> => ({
  docs: name => aroundDocs(store.docs(name), (operation, run) => around(name, operation, run)),
  ping: () => store.ping(),
  time: () => store.time(),
  forgetRemoved: () => store.forgetRemoved(),
  close: () => store.close(),
})

type Around = <R>(operation: keyof Docs<Doc>, run: () => Promise<R>) => Promise<R>

const aroundDocs = <T extends Doc>(docs: Docs<T>, around: Around): Docs<T> => ({
  get: (ids, options) => around('get', () => docs.get(ids, options)),
  find: (filter, page) => around('find', () => docs.find(filter, page)),
  count: (filter, max) => around('count', () => docs.count(filter, max)),
  insert: added => around('insert', () => docs.insert(added)),
  change: changes => around('change', () => docs.change(changes)),
  update: updates => around('update', () => docs.update(updates)),
  modify: (filter, update, options) => around('modify', () => docs.modify(filter, update, options)),
  remove: (filter, limit) => around('remove', () => docs.remove(filter, limit)),
})
