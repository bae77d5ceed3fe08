// Measures any store. In: a store. Out: the same store, which observes how long operations took, by kind and by collection, failed ones
// included.
import type { Metrics } from '../metrics.ts'
import { aroundStore } from './around.ts'
import type { Collections, Store } from './store.ts'

export const instrumentStore = <C extends Collections>(
  store: Store<C>,
  metrics: Pick<Metrics, 'storeDuration' | 'collectionDuration'>,
): Store<C> =>
  aroundStore(store, async (collection, operation, run) => {
    const stop = metrics.storeDuration.startTimer({ operation })
    try {
      return await run()
    } finally {
      metrics.collectionDuration.observe({ collection }, stop())
    }
  })
