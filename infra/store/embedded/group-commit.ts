// Group commit. In: writes. Out: their answers, after one COMMIT and so one fsync for all that were asked for in the same turn of the
// event loop. A write that fails leaves its neighbours alone: each changes a document by one statement, and SQLite takes back a failed one.
import { setImmediate } from 'node:timers'
import { Unavailable } from '../../unavailable.ts'
import type { Sqlite } from './sqlite.ts'

export interface GroupCommit {
  /** Runs `work` inside the next transaction; resolves when that is on disk. */
  write<R>(work: () => R): Promise<R>
  /** Commits what is waiting, now. */
  flush(): void
}

interface PendingWrite {
  /** Answers what to do once the transaction is on disk. */
  run(): () => void
  reject(error: unknown): void
}

export function createGroupCommit(sqlite: Sqlite): GroupCommit {
  let waiting: PendingWrite[] = []

  function flush(): void {
    const group = waiting
    waiting = []
    if (group.length === 0) return
    try {
      sqlite.run('BEGIN IMMEDIATE')
      const settle = group.map(one => one.run())
      sqlite.run('COMMIT')
      for (const each of settle) each()
    } catch (error) {
      for (const { reject } of group) reject(error)
      rollBack()
    }
  }

  /** SQLite may have rolled back by itself. Should it be unable to, the next group will say so to its callers. */
  function rollBack(): void {
    try {
      if (sqlite.inTransaction()) sqlite.run('ROLLBACK')
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }

  function write<R>(work: () => R): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush)
      waiting.push({ run: () => runWrite(work, resolve, reject), reject })
    })
  }
  return { write, flush }
}

/** A failure of the engine is everyone's and ends the group; any other is the caller's own. */
function runWrite<R>(work: () => R, resolve: (answer: R) => void, reject: (error: unknown) => void): () => void {
  try {
    const answer = work()
    return () => resolve(answer)
  } catch (error) {
    if (error instanceof Unavailable) throw error
    return () => reject(error)
  }
}
