// Measures any store. In: a store. Out: the same store, which observes how long operations took, by kind and by collection, failed ones included.
import type { Metrics } from '../metrics.ts'
import type { Doc, Docs } from './docs.ts'
import type { Collections, Store } from './store.ts'

export function instrumentStore<C extends Collections>(
  store: Store<C>,
  metrics: Pick<Metrics, 'storeDuration' | 'collectionDuration'>,
): Store<C> {
  const runTimed =
    (collection: string): RunTimed =>
    async (operation, run) => {
      const stop = metrics.storeDuration.startTimer({ operation })
      try {
        return await run()
      } finally {
        metrics.collectionDuration.observe({ collection }, stop())
      }
    }
  return {
    docs: name => instrumentDocs(store.docs(name), runTimed(name)),
    ping: () => store.ping(),
    time: () => store.time(),
    close: () => store.close(),
  }
}

type RunTimed = <R>(operation: keyof Docs<Doc>, run: () => Promise<R>) => Promise<R>

const instrumentDocs = <T extends Doc>(docs: Docs<T>, runTimed: RunTimed): Docs<T> => ({
  get: (ids, options) => runTimed('get', () => docs.get(ids, options)),
  find: (filter, page) => runTimed('find', () => docs.find(filter, page)),
  count: filter => runTimed('count', () => docs.count(filter)),
  insert: added => runTimed('insert', () => docs.insert(added)),
  change: changes => runTimed('change', () => docs.change(changes)),
  update: updates => runTimed('update', () => docs.update(updates)),
  modify: (filter, update, options) => runTimed('modify', () => docs.modify(filter, update, options)),
  remove: (filter, limit) => runTimed('remove', () => docs.remove(filter, limit)),
})
