// The store on SQLite, in a folder of its own: no server to install, for one process at a time. In: the folder, the table of
// collections, a clock. Out: the store port.
//
// A collection is a table of JSON texts with a column for each indexed path, which embedded/columns.ts fills. Declared indexes are SQLite
// indexes on those columns, so SQLite itself keeps them unique. embedded/filter-sql.ts finds candidates by index, embedded/matcher.ts tests
// them where SQL cannot, and embedded/group-commit.ts writes what waits in a turn of the event loop to disk at once.
import type { Clock } from '../clock.ts'
import type { Docs } from './docs.ts'
import { createGroupCommit } from './embedded/group-commit.ts'
import { createHotCopy } from './embedded/hot-copy.ts'
import { createEncode } from './embedded/json.ts'
import { createLatestDocs, noLatestDocs } from './embedded/latest-docs.ts'
import { startPurging } from './embedded/purge.ts'
import { createReader } from './embedded/reader.ts'
import { declareTables } from './embedded/schema.ts'
import { openSqlite, type Sqlite } from './embedded/sqlite.ts'
import { tableOf } from './embedded/table.ts'
import { createWriter } from './embedded/writer.ts'
import type { CollectionSpec, Collections, Store } from './store.ts'

export interface EmbeddedStoreOptions<C extends Collections> {
  /** Created when missing. Holds `countersign.db` and, while the store is open, its log. */
  folder: string
  collections: C
  clock: Clock
  /** Throw `Unindexed` for a query that no declared index serves. Off in production, where such a query is only slow. */
  strict?: boolean
  /** What tests replace, by an engine that fails. */
  open?(folder: string): Sqlite
}

export interface EmbeddedStore<C extends Collections> extends Store<C> {
  /** Copies everything into a new folder, from which a store can be opened. A copy that fails, or that `close` ends, leaves nothing. */
  copyTo(folder: string): Promise<void>
}

/** Throws when another process uses the folder, or when stored documents violate a unique index. */
export function createEmbeddedStore<C extends Collections>(options: EmbeddedStoreOptions<C>): EmbeddedStore<C> {
  const { folder, collections, clock, strict = true, open = openSqlite } = options
  const parts = Object.entries(collections).map(([name, spec]) => ({
    table: tableOf(name, spec),
    latest: spec.keepLatest ? createLatestDocs(strict) : noLatestDocs,
  }))
  const sqlite = open(folder)
  try {
    declareTables(
      sqlite,
      parts.map(({ table }) => table),
    )
  } catch (error) {
    sqlite.close()
    throw error
  }
  const forgetLatest = (): void => {
    for (const { latest } of parts) latest.clear()
  }
  const commits = createGroupCommit(sqlite, clock, forgetLatest)
  const hotCopy = createHotCopy(sqlite, folder)
  const stopPurging = startPurging(parts, sqlite, commits, clock, hotCopy.emptyLog)
  const encode = createEncode(strict)
  const docs = new Map(
    parts.map(({ table, latest }) => {
      const read = createReader({ sqlite, table, latest, strict })
      const write = createWriter({ sqlite, commits, table, reader: read, latest, encode })
      return [table.collection, { get: read.get, find: read.find, count: read.count, ...write }]
    }),
  )
  const ping = async (): Promise<void> => {
    sqlite.value('SELECT 1')
  }
  return {
    docs<N extends keyof C & string>(name: N) {
      const found = docs.get(name)
      if (!found) throw new TypeError(`No collection ${name} is declared`)
      return found as unknown as Docs<C[N] extends CollectionSpec<infer T> ? T : never>
    },
    ping,
    // SQLite runs in this process and would ask the same clock.
    async time() {
      await ping()
      return clock.now()
    },
    async forgetRemoved() {
      hotCopy.emptyLog()
    },
    copyTo: hotCopy.copyTo,
    async close() {
      stopPurging()
      // SQLite empties its log when it is closed, which would tear a copy of it.
      await hotCopy.close()
      commits.flush()
      // A closed store answers nothing, not from memory either.
      forgetLatest()
      sqlite.close()
    },
  }
}
