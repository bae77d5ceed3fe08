// Garbage collection: removes documents past their `purge_at`, a small batch at a time so that writers never wait long.
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'

const PURGE_INTERVAL_MS = 60_000
const PURGE_BATCH = 200

/** Answers a function that stops it. */
export function startPurging(tables: readonly Table[], sqlite: Sqlite, commits: GroupCommit, clock: Clock): () => void {
  const purged = tables.filter(table => table.spec.purged)
  let cancel = (): void => {}

  const purgeAll = async (): Promise<void> => {
    const now = clock.now()
    for (const table of purged)
      while ((await commits.write(() => sqlite.run(table.purge, [now, PURGE_BATCH]))) === PURGE_BATCH);
  }
  const schedule = (): void => {
    cancel = clock.after(PURGE_INTERVAL_MS, () => {
      schedule()
      purgeAll().catch(ignoreUnavailable)
    })
  }
  if (purged.length > 0) schedule()
  return () => cancel()
}

/** The store was closed meanwhile, or the disk is full: the next round removes what is left. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error
}
