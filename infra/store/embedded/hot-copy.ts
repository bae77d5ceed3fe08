// Copies the database while it is used. In: an open database, and a new folder. Out: a copy there, which a process can
// open like any data folder. Writes go on meanwhile; those that are made before the copy begins are in it.
//
// Without checkpoints SQLite only appends to its log, and the database file stays as it is. So the file and then the
// log are a state of the database: SQLite leaves out what is cut off at the end of a log. Another process copies,
// because closing a file releases the locks that this process has on it.
//
// The log has the pages as they were before a document was removed, so it is emptied after erasures: not while it is
// copied, which would tear the copy.
//
// The files are copied into a folder beside the new one, which gets its name when it is whole and on the disk: a copy
// that is interrupted, by a loss of power too, does not look like a backup.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePrivateFolder } from '../../private-files.ts'
import { Unavailable } from '../../unavailable.ts'
import { DATABASE_FILE, type Sqlite } from './sqlite.ts'

export interface HotCopy {
  copyTo(folder: string): Promise<void>
  /** Moves what is in the log to the database file and truncates the log, at once or when the copy under way ends.
   *  SQLite keeps the log below a few megabytes by itself, so this takes milliseconds. Throws `Unavailable`. */
  emptyLog(): void
  /** Ends the copy that is under way, and refuses others. Resolves once no program reads the files any more. */
  close(): Promise<void>
}

const LOG_FILE = `${DATABASE_FILE}-wal`
/** SQLite's own. */
const CHECKPOINT_EVERY_PAGES = 1_000
const MIB = 1024 * 1024
/** For what is written meanwhile: a disk that a copy fills stops the store itself. */
const SPARE_BYTES = 64 * MIB

const runProgram = promisify(execFile)

/** What tests replace. */
export interface Disk {
  freeBytes(folder: string): Promise<number>
  /** Resolves once a file, or the names in a folder, are on the disk. */
  sync(path: string): Promise<void>
}

export function createHotCopy(sqlite: Pick<Sqlite, 'column'>, folder: string, disk: Disk = REAL_DISK): HotCopy {
  const closing = new AbortController()
  const { signal } = closing
  let underWay = Promise.resolve()
  let copying = false
  let emptyAfterCopy = false

  function emptyLog(): void {
    if (copying) emptyAfterCopy = true
    else sqlite.column('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  async function copy(to: string): Promise<void> {
    refuseWhenClosed(signal)
    const partial = `${to}.partial`
    try {
      ensurePrivateFolder(partial)
      await checkSpace(partial)
      await copyFiles(partial)
      for (const file of await readdir(partial)) await disk.sync(join(partial, file))
      await disk.sync(partial)
      refuseWhenClosed(signal)
      await rename(partial, to)
      await syncName(to)
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      throw error
    }
  }

  /** The folder of the copies may be new as well. */
  async function syncName(copied: string): Promise<void> {
    try {
      for (const above of [dirname(copied), dirname(dirname(copied))]) await disk.sync(above)
    } catch (error) {
      await rm(copied, { recursive: true, force: true })
      throw error
    }
  }

  async function checkSpace(at: string): Promise<void> {
    const sizes = await Promise.all(existingFiles().map(async file => (await stat(join(folder, file))).size))
    const needed = sizes.reduce((sum, size) => sum + size, SPARE_BYTES)
    const free = await disk.freeBytes(at)
    if (free < needed)
      throw new Error(
        `Not enough space for a copy: it needs ${Math.ceil(needed / MIB)} MiB, and ${Math.floor(free / MIB)} MiB are free`,
      )
  }

  async function copyFiles(to: string): Promise<void> {
    refuseWhenClosed(signal)
    sqlite.column('PRAGMA wal_autocheckpoint=0')
    try {
      // The log then begins anew, and is not begun anew again while it is copied.
      emptyLog()
      copying = true
      for (const file of existingFiles()) await copyFile(join(folder, file), join(to, file), signal)
    } finally {
      copying = false
      sqlite.column(`PRAGMA wal_autocheckpoint=${CHECKPOINT_EVERY_PAGES}`)
      if (emptyAfterCopy) emptyLog()
      emptyAfterCopy = false
    }
  }

  const existingFiles = (): string[] => [DATABASE_FILE, LOG_FILE].filter(file => existsSync(join(folder, file)))

  return {
    emptyLog,
    /** One after the other: the end of one switches checkpoints on. */
    copyTo(to) {
      const copied = underWay.then(() => copy(to))
      underWay = copied.catch(() => {})
      return copied
    },
    close() {
      closing.abort()
      return underWay
    },
  }
}

function refuseWhenClosed(signal: AbortSignal): void {
  if (signal.aborted) throw new Unavailable('The store is closed')
}

/** Settles when the program has ended. Given the signal itself, Node would reject before that. */
async function copyFile(from: string, to: string, signal: AbortSignal): Promise<void> {
  refuseWhenClosed(signal)
  const running = runProgram('cp', ['-p', '--', from, to])
  const end = (): void => void running.child.kill('SIGKILL')
  signal.addEventListener('abort', end)
  try {
    await running
  } catch (error) {
    refuseWhenClosed(signal)
    throw error
  } finally {
    signal.removeEventListener('abort', end)
  }
}

const REAL_DISK: Disk = {
  /** For a user who is not root. */
  async freeBytes(folder) {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  },
  async sync(path) {
    const file = await open(path)
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  },
}
