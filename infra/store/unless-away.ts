import type { Waited } from '../engine-watch.ts'
import { aroundStore } from './around.ts'
import type { Collections, Store } from './store.ts'

/** The same store, for work that a caller waits for. */
export const storeUnlessAway = <C extends Collections>(
  store: Store<C>,
  { unlessAway }: Pick<Waited, 'unlessAway'>,
): Store<C> => ({
  ...aroundStore(store, (_collection, _operation, run) => unlessAway(run)),
  ping: () => unlessAway(store.ping),
  time: () => unlessAway(store.time),
})
