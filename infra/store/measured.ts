// Any store, measured: how long each operation on each collection took, whether it succeeded or not. It changes nothing else.
import type { Metrics } from '../metrics.ts'
import type { Doc, Docs } from './docs.ts'
import type { Collections, Store } from './store.ts'

export function measuredStore<C extends Collections>(
  store: Store<C>,
  metrics: Pick<Metrics, 'storeDuration'>,
): Store<C> {
  const timed =
    (collection: string): Timed =>
    async (operation, run) => {
      const stop = metrics.storeDuration.startTimer({ collection, operation })
      try {
        return await run()
      } finally {
        stop()
      }
    }
  return {
    docs: name => measuredDocs(store.docs(name), timed(name)),
    ping: () => store.ping(),
    close: () => store.close(),
  }
}

type Timed = <R>(operation: keyof Docs<Doc>, run: () => Promise<R>) => Promise<R>

const measuredDocs = <T extends Doc>(docs: Docs<T>, timed: Timed): Docs<T> => ({
  get: ids => timed('get', () => docs.get(ids)),
  find: (filter, page) => timed('find', () => docs.find(filter, page)),
  count: filter => timed('count', () => docs.count(filter)),
  insert: added => timed('insert', () => docs.insert(added)),
  change: changes => timed('change', () => docs.change(changes)),
  modify: (filter, update, options) => timed('modify', () => docs.modify(filter, update, options)),
  remove: (filter, limit) => timed('remove', () => docs.remove(filter, limit)),
})
