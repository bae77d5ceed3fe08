// Garbage collection: what is past its `purge_at` goes, a small batch at a time so that writers are never kept waiting for long.
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Commits } from './commit.ts'
import type { Engine } from './engine.ts'
import type { Table } from './table.ts'

const EVERY_MS = 60_000
const BATCH = 200

/** Answers how to stop it. */
export function startPurging(tables: readonly Table[], engine: Engine, commits: Commits, clock: Clock): () => void {
  const purged = tables.filter(table => table.spec.purged)
  let cancel = (): void => {}

  const round = async (): Promise<void> => {
    const now = new Date(clock.now()).toISOString()
    for (const table of purged) while ((await commits.write(() => engine.run(table.purge, [now, BATCH]))) === BATCH);
  }
  const arm = (): void => {
    cancel = clock.after(EVERY_MS, () => {
      arm()
      round().catch(whenClosed)
    })
  }
  if (purged.length > 0) arm()
  return () => cancel()
}

/** Closed meanwhile, or the disk is full: what is left is for the next round. */
function whenClosed(error: unknown): void {
  if (!(error instanceof Unavailable)) throw error
}
