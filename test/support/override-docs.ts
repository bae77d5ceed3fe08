// A store whose collections answer otherwise than they are, for tests of what a caller does then.
import type { Docs } from '../../infra/store/docs.ts'
import type { CollectionSpec } from '../../infra/store/store.ts'
import type { COLLECTIONS, CountersignStore } from '../../services/domain/collections.ts'

type Name = keyof typeof COLLECTIONS
type DocsOf<N extends Name> = Docs<(typeof COLLECTIONS)[N] extends CollectionSpec<infer T> ? T : never>

/** The store with other methods in one of its collections. */
export function overrideDocs<N extends Name>(
  store: CountersignStore,
  name: N,
  methods: (docs: DocsOf<N>) => Partial<DocsOf<N>>,
): CountersignStore {
  const original = store.docs(name) as DocsOf<N>
  const docs = (asked: Name) => (asked === name ? { ...original, ...methods(original) } : store.docs(asked))
  return { ...store, docs: docs as CountersignStore['docs'] }
}
