// In: a store. Out: the same store, with a span for each operation that is made inside a span that is recorded.

import { aroundStore } from '../store/around.ts'
import type { Doc, Docs } from '../store/docs.ts'
import type { Collections, Store } from '../store/store.ts'
import { inSpan, type Tracing } from './tracing.ts'

export const traceStore = <C extends Collections>(store: Store<C>, tracing: Tracing): Store<C> =>
  aroundStore(store, (collection, operation: keyof Docs<Doc>, run) => {
    const parent = tracing.current()
    if (!parent?.recorded) return run()
    const attributes = { 'db.collection.name': collection, 'db.operation.name': operation }
    return inSpan(tracing, `${operation} ${collection}`, { kind: 'client', parent, attributes }, run)
  })
