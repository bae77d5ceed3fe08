// Copies the database while it is used. In: an open database, and a new folder. Out: a copy there, which a process can open like any data
// folder. Writes go on meanwhile; those that are made before the copy begins are in it.
//
// Without checkpoints SQLite only appends to its log, and the database file stays as it is. So the file and then the log are a state of the
// database: SQLite leaves out what is cut off at the end of a log. Another process copies, because closing a file releases the locks that
// this process has on it.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePrivateFolder } from '../../private-files.ts'
import { DATABASE_FILE, type Sqlite } from './sqlite.ts'

const LOG_FILE = `${DATABASE_FILE}-wal`
/** SQLite's own. */
const CHECKPOINT_EVERY_PAGES = 1_000

const runProgram = promisify(execFile)

export function createHotCopy(sqlite: Pick<Sqlite, 'column'>, folder: string): (to: string) => Promise<void> {
  let underWay = Promise.resolve()

  async function copy(to: string): Promise<void> {
    ensurePrivateFolder(to)
    sqlite.column('PRAGMA wal_autocheckpoint=0')
    try {
      // The log then begins anew, and is not begun anew again while it is copied.
      sqlite.column('PRAGMA wal_checkpoint(TRUNCATE)')
      for (const file of [DATABASE_FILE, LOG_FILE])
        if (existsSync(join(folder, file))) await runProgram('cp', ['-p', '--', join(folder, file), join(to, file)])
    } finally {
      sqlite.column(`PRAGMA wal_autocheckpoint=${CHECKPOINT_EVERY_PAGES}`)
    }
  }

  /** One after the other: the end of one switches checkpoints on. */
  return to => {
    const copied = underWay.then(() => copy(to))
    underWay = copied.catch(() => {})
    return copied
  }
}
