// The store on SQLite, in a folder of its own: no server to install, for one process at a time. In: the folder, the table of
// collections, a clock. Out: a store that means the same as the one on MongoDB; test/contract/store.contract.ts holds both to it.
//
// One table per collection, of JSON text; declared indexes are indexes on expressions, so SQLite itself keeps them unique. SQL finds
// candidates by index (embedded.where.ts), embedded.match.ts decides where SQL cannot, embedded.commit.ts shares an fsync among the
// writes of one turn.
import type { Clock } from '../clock.ts'
import type { Docs } from './docs.ts'
import { groupCommit } from './embedded/commit.ts'
import { openEngine } from './embedded/engine.ts'
import { encoder } from './embedded/json.ts'
import { startPurging } from './embedded/purge.ts'
import { reading } from './embedded/read.ts'
import { declare } from './embedded/schema.ts'
import { tableOf } from './embedded/table.ts'
import { writing } from './embedded/write.ts'
import type { CollectionSpec, Collections, Store } from './store.ts'

export interface EmbeddedStoreOptions<C extends Collections> {
  /** Made when missing. Holds `countersign.db` and, while open, its log. */
  folder: string
  collections: C
  clock: Clock
  /** Off in production: a filter that no index serves is then slow instead of an error. */
  strict?: boolean
}

/** Throws when another process has the folder, or when the data contradicts a unique index. */
export function embeddedStore<C extends Collections>(options: EmbeddedStoreOptions<C>): Store<C> {
  const { folder, collections, clock, strict = true } = options
  const tables = Object.entries(collections).map(([name, spec]) => tableOf(name, spec))
  const engine = openEngine(folder)
  try {
    declare(engine, tables)
  } catch (error) {
    engine.close()
    throw error
  }
  const commits = groupCommit(engine)
  const stopPurging = startPurging(tables, engine, commits, clock)
  const docs = new Map(
    tables.map(table => {
      const read = reading(engine, table, strict)
      const write = writing({ engine, commits, table, reading: read, encode: encoder(table.paths, strict) })
      return [table.collection, { get: read.get, find: read.find, count: read.count, ...write }]
    }),
  )
  return {
    docs<N extends keyof C & string>(name: N) {
      const found = docs.get(name)
      if (!found) throw new TypeError(`No collection ${name} is declared`)
      return found as unknown as Docs<C[N] extends CollectionSpec<infer T> ? T : never>
    },
    async ping() {
      engine.value('SELECT 1')
    },
    async close() {
      stopPurging()
      commits.flush()
      engine.close()
    },
  }
}
