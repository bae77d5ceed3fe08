// SQLite behind the few calls that the store needs. In: SQL and parameters. Out: columns, counts, and the port's errors.
import { join } from 'node:path'
import Database from 'libsql'
import { dataFolderProblem } from '../../data-folder.ts'
import { ensurePrivateFile, ensurePrivateFolder, tightenFile } from '../../private-files.ts'
import { Unavailable } from '../../unavailable.ts'
import { Duplicate } from '../docs.ts'

/** What a statement takes. */
export type Bound = string | number | Uint8Array | null

export interface Sqlite {
  /** The first column of every row. */
  column(sql: string, params?: readonly Bound[]): unknown[]
  /** The first column of the first row. */
  value(sql: string, params?: readonly Bound[]): unknown
  /** How many rows it changed. */
  run(sql: string, params?: readonly Bound[]): number
  inTransaction(): boolean
  close(): void
}

export const DATABASE_FILE = 'countersign.db'
/** The endings of the files that SQLite keeps beside it. */
const COMPANION_ENDINGS = ['-wal', '-shm', '-journal']

/** Statements are few, because values are parameters. The bound is for a query that breaks this rule. */
const MAX_CACHED_STATEMENTS = 1_000

export function openSqlite(folder: string): Sqlite {
  let database: Database.Database | undefined
  try {
    ensurePrivateFolder(folder)
    const file = join(folder, DATABASE_FILE)
    // SQLite makes its other files with the mode of this one.
    ensurePrivateFile(file)
    for (const ending of COMPANION_ENDINGS) tightenFile(file + ending)
    database = new Database(file)
    const sqlite = sqliteOn(database)
    lock(sqlite)
    return sqlite
  } catch (error) {
    database?.close()
    throw dataFolderProblem(folder, error instanceof Unavailable ? error.cause : error)
  }
}

/** 16 MiB of pages in memory: the upper pages of the indexes and what was written last. The system keeps the others, and reading one from
 *  there takes microseconds. A log that one large write made longer is truncated to 64 MiB. What is deleted is overwritten, on the
 *  pages that this frees as well: FAST would leave those as they are. */
const PRAGMAS = [
  'locking_mode=EXCLUSIVE',
  'journal_mode=WAL',
  'synchronous=FULL',
  'secure_delete=ON',
  'cache_size=-16384',
  'journal_size_limit=67108864',
]

/** One process uses the file alone: no shared memory is needed, and no other process writes between the reads and writes of a group. */
function lock(sqlite: Sqlite): void {
  for (const setting of PRAGMAS) sqlite.column(`PRAGMA ${setting}`)
  sqlite.run('BEGIN EXCLUSIVE')
  sqlite.run('COMMIT')
}

/** By their SQL. */
type Statements = Map<string, Database.Statement>

function sqliteOn(database: Database.Database): Sqlite {
  const statements: Statements = new Map()
  // Apart from the others, because after an `all` of the same statement libsql's `get` answers for the earlier parameters.
  const firstRowStatements: Statements = new Map()
  let open = true

  function statement(sql: string, cached: Statements): Database.Statement {
    if (!open) throw new Unavailable('The store is closed')
    const ready = cached.get(sql) ?? prepare(sql)
    if (cached.size >= MAX_CACHED_STATEMENTS) cached.clear()
    cached.set(sql, ready)
    return ready
  }
  function prepare(sql: string): Database.Statement {
    const prepared = database.prepare(sql)
    return prepared.reader ? prepared.raw() : prepared
  }
  /** Throws the port's errors. */
  function withStatement<R>(sql: string, call: (statement: Database.Statement) => R, cached = statements): R {
    try {
      return call(statement(sql, cached))
    } catch (error) {
      // After a failed `get` a statement would answer for the parameters of that call.
      firstRowStatements.delete(sql)
      throw toPortError(error)
    }
  }
  const column = (sql: string, params: readonly Bound[] = []): unknown[] =>
    withStatement(sql, ready => ready.all(bindable(params)).map(row => (row as unknown[])[0]))
  /** libsql keeps the file open, and so locked, until the last statement is garbage-collected. Leaving WAL mode empties the log and
   *  releases the lock. */
  function releaseLock(): void {
    try {
      for (const setting of ['journal_mode=DELETE', 'locking_mode=NORMAL', 'schema_version'])
        column(`PRAGMA ${setting}`)
    } catch (error) {
      // Nothing is lost: committed writes are in the log, and the next process that opens the folder reads it.
      if (!(error instanceof Unavailable)) throw error
    }
  }
  return {
    column,
    // By `get`, which takes two thirds of the time of `all`.
    value: (sql, params = []) =>
      withStatement(sql, ready => (ready.get(bindable(params)) as unknown[] | undefined)?.[0], firstRowStatements),
    run: (sql, params = []) => withStatement(sql, ready => ready.run(bindable(params)).changes),
    inTransaction: () => open && database.inTransaction,
    close() {
      if (!open) return
      try {
        releaseLock()
      } finally {
        open = false
        for (const cached of [statements, firstRowStatements]) cached.clear()
        database.close()
      }
    },
  }
}

/** libsql ends the whole process when it gets a boolean. */
function bindable(params: readonly Bound[]): Bound[] {
  if (params.every(isBound)) return [...params]
  throw new TypeError('SQLite is given what it cannot store')
}

const isBound = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || value === null || value instanceof Uint8Array

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Codes of a mistake in our SQL. Every other failure (a full disk, an I/O error, corruption) is the engine's. */
const SQL_MISTAKE_CODES = new Set(['SQLITE_ERROR', 'SQLITE_MISUSE', 'SQLITE_RANGE', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG'])

function toPortError(error: unknown): unknown {
  const code = codeOf(error)
  if (code.startsWith('SQLITE_CONSTRAINT')) return new Duplicate((error as Error).message, { cause: error })
  if (!code.startsWith('SQLITE_') || SQL_MISTAKE_CODES.has(code)) return error
  return new Unavailable(`SQLite: ${(error as Error).message}`, { cause: error })
}
