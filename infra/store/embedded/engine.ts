// SQLite behind the few calls the store needs. In: SQL and parameters. Out: columns, counts, and errors the port knows.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { StartProblem } from '../../start-problem.ts'
import { Unavailable } from '../../unavailable.ts'
import { Duplicate } from '../docs.ts'
import type { Parameter } from './condition.ts'

export interface Engine {
  /** The first column of every row. */
  column(sql: string, params?: readonly Parameter[]): unknown[]
  /** The first column of the first row. */
  value(sql: string, params?: readonly Parameter[]): unknown
  /** How many rows it changed. */
  run(sql: string, params?: readonly Parameter[]): number
  inTransaction(): boolean
  close(): void
}

export const DATABASE_FILE = 'countersign.db'

/** Fillings of a statement are many, statements few; the bound is for a mistake. */
const STATEMENTS = 1_000

export function openEngine(folder: string): Engine {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  let database: Database.Database | undefined
  try {
    database = new Database(join(folder, DATABASE_FILE))
    const engine = engineOn(database)
    lock(engine)
    return engine
  } catch (error) {
    database?.close()
    throw startProblem(folder, error instanceof Unavailable ? error.cause : error)
  }
}

function startProblem(folder: string, cause: unknown): unknown {
  if (codeOf(cause).startsWith('SQLITE_BUSY')) return new StartProblem(`another process is using ${folder}`, { cause })
  if (!codeOf(cause).startsWith('SQLITE_')) return cause
  return new StartProblem(`cannot open ${DATABASE_FILE} in ${folder}: ${(cause as Error).message}`, { cause })
}

/** 64 MiB of pages in memory; a log that one large write made longer than that is cut back. */
const SETTINGS = [
  ...['locking_mode=EXCLUSIVE', 'journal_mode=WAL', 'synchronous=FULL'],
  ...['cache_size=-65536', 'journal_size_limit=67108864'],
]

/** One process has the file to itself: no shared memory, and no second writer that would see half of a group. */
function lock(engine: Engine): void {
  for (const setting of SETTINGS) engine.column(`PRAGMA ${setting}`)
  engine.run('BEGIN EXCLUSIVE')
  engine.run('COMMIT')
}

function engineOn(database: Database.Database): Engine {
  const statements = new Map<string, Database.Statement>()
  let open = true

  function statement(sql: string): Database.Statement {
    if (!open) throw new Unavailable('The store is closed')
    const ready = statements.get(sql) ?? prepare(sql)
    if (statements.size >= STATEMENTS) statements.clear()
    statements.set(sql, ready)
    return ready
  }
  function prepare(sql: string): Database.Statement {
    const fresh = database.prepare(sql)
    return fresh.reader ? fresh.raw() : fresh
  }
  /** Calls in, our errors out. */
  function on<R>(sql: string, call: (statement: Database.Statement) => R): R {
    try {
      return call(statement(sql))
    } catch (error) {
      throw known(error)
    }
  }
  // Never `get`: after an `all` of the same statement it answers for the parameters before.
  const column = (sql: string, params: readonly Parameter[] = []): unknown[] =>
    on(sql, ready => ready.all(bindable(params)).map(row => (row as unknown[])[0]))
  /** libsql keeps the file open, and so locked, until the last statement is garbage. Leaving WAL empties it and gives up the lock. */
  function letGo(): void {
    try {
      for (const setting of ['journal_mode=DELETE', 'locking_mode=NORMAL', 'schema_version'])
        column(`PRAGMA ${setting}`)
    } catch (error) {
      // Nothing is lost: what was committed is in the log, and the next to open the folder reads it.
      if (!(error instanceof Unavailable)) throw error
    }
  }
  return {
    column,
    value: (sql, params) => column(sql, params)[0],
    run: (sql, params = []) => on(sql, ready => ready.run(bindable(params)).changes),
    inTransaction: () => open && database.inTransaction,
    close() {
      if (!open) return
      try {
        letGo()
      } finally {
        open = false
        statements.clear()
        database.close()
      }
    },
  }
}

/** libsql ends the whole process when it is given a boolean. */
function bindable(params: readonly Parameter[]): Parameter[] {
  if (params.every(each => typeof each === 'string' || typeof each === 'number')) return [...params]
  throw new TypeError('SQLite is given neither text nor number')
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Codes of a mistake in our SQL. Every other failure (disk full, input and output, corruption) is the engine's. */
const MISTAKES = new Set(['SQLITE_ERROR', 'SQLITE_MISUSE', 'SQLITE_RANGE', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG'])

function known(error: unknown): unknown {
  const code = codeOf(error)
  if (code.startsWith('SQLITE_CONSTRAINT')) return new Duplicate((error as Error).message, { cause: error })
  if (!code.startsWith('SQLITE_') || MISTAKES.has(code)) return error
  return new Unavailable(`SQLite: ${(error as Error).message}`, { cause: error })
}
