// Group commit. In: writes. Out: their answers, after one COMMIT, and so one fsync, for the writes of one turn of the event loop. A write
// that fails does not undo the others: each document is written by one statement, and SQLite undoes only the statement that failed.
//
// A commit holds the event loop, and so do its callers, which all go on when it is on disk. So it ends after some milliseconds, and the
// writes that are left go into the next one, in another turn.
import type { Clock } from '../../clock.ts'
import { eventLoop } from '../../event-loop.ts'
import { createFifo } from '../../fifo.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Sqlite } from './sqlite.ts'

export interface GroupCommit {
  /** Runs `work` inside one of the next transactions, in the order of the calls; resolves when that transaction is on disk. */
  write<R>(work: () => R): Promise<R>
  /** Commits all waiting writes now. */
  flush(): void
}

interface PendingWrite {
  /** Answers a function to call once the transaction is on disk. */
  run(): () => void
  reject(error: unknown): void
}

/** The time for the writes of one commit. What their callers do next takes several times as long. */
export const MAX_COMMIT_MS = 10
/** The same on a slow disk. A single commit may take seconds, and the next one must not hold the event loop for as long. */
const MAX_COMMIT_ON_SLOW_DISK_MS = 50

/** `onRollback`: what was written in the transaction is not stored. */
export function createGroupCommit(
  sqlite: Sqlite,
  clock: Pick<Clock, 'now'>,
  onRollback: () => void = () => {},
): GroupCommit {
  const waiting = createFifo<PendingWrite>()
  let scheduled = false
  /** How long the disk took for the latest commit. On a slow disk the writes of the next one may take as long as that, within bounds. */
  let diskMs = 0

  function schedule(): void {
    if (scheduled || waiting.size === 0) return
    scheduled = true
    eventLoop.inTurn(() => {
      scheduled = false
      commit(Math.min(Math.max(MAX_COMMIT_MS, diskMs), MAX_COMMIT_ON_SLOW_DISK_MS))
      schedule()
    })
  }

  function commit(maxMs: number): void {
    if (waiting.size === 0) return
    const group: PendingWrite[] = []
    try {
      sqlite.run('BEGIN IMMEDIATE')
      const settle = runWrites(group, clock.now() + maxMs)
      const writtenAt = clock.now()
      sqlite.run('COMMIT')
      diskMs = clock.now() - writtenAt
      for (const each of settle) each()
    } catch (error) {
      for (const { reject } of [...group, ...waiting.clear()]) reject(error)
      rollBack()
    }
  }

  /** Moves the writes that it runs from `waiting` to `group`. Each commit has at least one. */
  function runWrites(group: PendingWrite[], until: number): (() => void)[] {
    const settle: (() => void)[] = []
    do {
      const write = waiting.shift() as PendingWrite
      group.push(write)
      settle.push(write.run())
    } while (waiting.size > 0 && clock.now() < until)
    return settle
  }

  /** SQLite may have rolled back by itself. If the rollback fails, the next group's BEGIN fails and its callers get the error. */
  function rollBack(): void {
    onRollback()
    try {
      if (sqlite.inTransaction()) sqlite.run('ROLLBACK')
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
    }
  }

  return {
    write: work =>
      new Promise((resolve, reject) => {
        waiting.push({ run: () => runWrite(work, resolve, reject), reject })
        schedule()
      }),
    flush: () => commit(Number.POSITIVE_INFINITY),
  }
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
