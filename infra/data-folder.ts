// Problems of the data folder that keep a process from starting. In: the folder, and the error that the system or SQLite gave. Out: a
// problem that names DATA_DIR and says what to do.
import { resolve } from 'node:path'
import { StartProblem } from './start-problem.ts'

const USE_ANOTHER = 'Set DATA_DIR to a folder that this user may write to'

const REASONS: Readonly<Record<string, string>> = {
  EACCES: `this user may not write there. ${USE_ANOTHER}`,
  EPERM: `this user may not write there. ${USE_ANOTHER}`,
  ENOENT: `the system makes no folders there. ${USE_ANOTHER}`,
  EROFS: `its disk is read-only. ${USE_ANOTHER}`,
  ENOTDIR: `a part of its path is a file, not a folder. ${USE_ANOTHER}`,
  EEXIST: `it is a file, not a folder. ${USE_ANOTHER}`,
  ENOSPC: 'its disk is full. Make room, or set DATA_DIR to a folder on another disk',
  SQLITE_BUSY: 'another process is using it. Stop that process, or set DATA_DIR to another folder',
  SQLITE_NOTADB: 'its countersign.db is no database. Restore it, or set DATA_DIR to another folder',
  SQLITE_CORRUPT: 'its countersign.db is damaged. Restore it, or set DATA_DIR to another folder',
  SQLITE_FULL: 'its disk is full. Make room, or set DATA_DIR to a folder on another disk',
}

/** An error that is neither the system's nor SQLite's comes back as it is: it is a bug. */
export function dataFolderProblem(folder: string, cause: unknown): unknown {
  const code = codeOf(cause)
  if (cause instanceof StartProblem || !/^(SQLITE_|E[A-Z]+$)/.test(code)) return cause
  // SQLite has variants of its codes, such as SQLITE_BUSY_RECOVERY.
  const known = Object.keys(REASONS).find(name => code === name || code.startsWith(`${name}_`))
  const reason = known ? REASONS[known] : `${(cause as Error).message}. ${USE_ANOTHER}`
  return new StartProblem(`DATA_DIR: ${resolve(folder)} cannot be used: ${reason}`, { cause })
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
