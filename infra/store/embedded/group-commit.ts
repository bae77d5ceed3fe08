// Group commit. In: writes. Out: their answers, after one COMMIT, and so one fsync, for all writes of one turn of the event loop. A write
// that fails does not undo the others: each document is written by one statement, and SQLite undoes only the statement that failed.
import { setImmediate } from 'node:timers'
import { Unavailable } from '../../unavailable.ts'
import type { Sqlite } from './sqlite.ts'

export interface GroupCommit {
  /** Runs `work` inside the next transaction; resolves when the transaction is on disk. */
  write<R>(work: () => R): Promise<R>
  /** Commits the waiting writes now. */
  flush(): void
}

interface PendingWrite {
  /** Answers a function to call once the transaction is on disk. */
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

  /** SQLite may have rolled back by itself. If the rollback fails, the next group's BEGIN fails and its callers get the error. */
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

/** A failure of the engine ends the whole group; any other failure is only this caller's. */
function runWrite<R>(work: () => R, resolve: (answer: R) => void, reject: (error: unknown) => void): () => void {
  try {
    const answer = work()
    return () => resolve(answer)
  } catch (error) {
    if (error instanceof Unavailable) throw error
    return () => reject(error)
  }
}
