// Garbage collection: removes documents past their `purge_at`, a small batch at a time so that writers never wait long, and then what the
// log still has of all that was removed.
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Doc } from '../docs.ts'
import type { GroupCommit } from './group-commit.ts'
import type { LatestDocs } from './latest-docs.ts'
import type { Sqlite } from './sqlite.ts'
import type { Table } from './table.ts'

const PURGE_INTERVAL_MS = 60_000
const PURGE_BATCH = 200

export interface PurgedCollection {
  table: Table
  latest: Pick<LatestDocs<Doc>, 'clear'>
}

/** Answers a function that stops it. */
export function startPurging(
  collections: readonly PurgedCollection[],
  sqlite: Sqlite,
  commits: GroupCommit,
  clock: Clock,
  emptyLog: () => void,
): () => void {
  const purged = collections.filter(({ table }) => table.spec.purged)
  let cancel = (): void => {}

  function purgeBatch({ table, latest }: PurgedCollection, now: number): number {
    const removed = sqlite.run(table.purge, [now, PURGE_BATCH])
    if (removed > 0) latest.clear()
    return removed
  }
  const purgeAll = async (): Promise<void> => {
    const now = clock.now()
    for (const collection of purged) while ((await commits.write(() => purgeBatch(collection, now))) === PURGE_BATCH);
    emptyLog()
  }
  const schedule = (): void => {
    cancel = clock.after(PURGE_INTERVAL_MS, () => {
      schedule()
      purgeAll().catch(ignoreUnavailable)
    })
  }
  schedule()
  return () => cancel()
}

/** The store was closed meanwhile, or the disk is full: the next round removes what is left. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error
}
