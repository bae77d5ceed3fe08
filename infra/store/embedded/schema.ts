// Brings the database to its declaration, in one transaction: creates tables, rebuilds those with other columns, and creates, changes and
// drops indexes.
import { StartProblem } from '../../start-problem.ts'
import { type Doc, Duplicate } from '../docs.ts'
import { ListAtIndexedPath } from './columns.ts'
import { quoted } from './index-key.ts'
import { decode } from './json.ts'
import type { Bound, Sqlite } from './sqlite.ts'
import type { IndexSql, Table } from './table.ts'

export function declareTables(sqlite: Sqlite, tables: readonly Table[]): void {
  sqlite.run('BEGIN IMMEDIATE')
  try {
    for (const table of tables) declareTable(sqlite, table)
    sqlite.run('COMMIT')
  } catch (error) {
    sqlite.run('ROLLBACK')
    throw error
  }
}

function declareTable(sqlite: Sqlite, table: Table): void {
  const stored = sqlite.value("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", [table.collection])
  if (stored === undefined) sqlite.run(table.create)
  else if (stored !== table.create) rebuild(sqlite, table)
  // The index that SQLite makes for the primary key has no SQL.
  const fromIndexes = "FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY name"
  const names = sqlite.column(`SELECT name ${fromIndexes}`, [table.collection]) as string[]
  const definitions = sqlite.column(`SELECT sql ${fromIndexes}`, [table.collection])
  const current = new Map(names.map((name, i) => [name, definitions[i]]))
  const wanted = new Map(table.indexes.map(index => [index.name, index]))
  for (const [name, sql] of current) if (wanted.get(name)?.sql !== sql) sqlite.run(`DROP INDEX ${quoted(name)}`)
  const created = table.indexes.filter(index => current.get(index.name) !== index.sql)
  for (const index of created) create(sqlite, table, index)
}

const ROWS_PER_STEP = 1_000

/** Copies the documents into a table with the declared columns. */
function rebuild(sqlite: Sqlite, table: Table): void {
  const old = quoted(`${table.collection} before`)
  sqlite.run(`ALTER TABLE ${quoted(table.collection)} RENAME TO ${old}`)
  sqlite.run(table.create)
  const step = `SELECT doc FROM ${old} WHERE rowid > ? AND rowid <= ?`
  const lastRow = Number(sqlite.value(`SELECT max(rowid) FROM ${old}`))
  for (let row = 0; row < lastRow; row += ROWS_PER_STEP)
    for (const text of sqlite.column(step, [row, row + ROWS_PER_STEP])) {
      const doc = decode(text)
      sqlite.run(table.insert, [doc._id, ...columnValues(table, doc), text as string])
    }
  sqlite.run(`DROP TABLE ${old}`)
}

/** A document that was inserted before a path was indexed may hold a list there. */
function columnValues(table: Table, doc: Doc): Bound[] {
  try {
    return table.columnValues(doc)
  } catch (error) {
    if (!(error instanceof ListAtIndexedPath)) throw error
    throw new StartProblem(`${table.collection} cannot be indexed by ${error.path}: some documents hold a list there`, {
      cause: error,
    })
  }
}

function create(sqlite: Sqlite, table: Table, index: IndexSql): void {
  try {
    sqlite.run(index.sql)
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error
    throw new StartProblem(`The index ${index.name} cannot be unique: ${table.collection} holds duplicates`, {
      cause: error,
    })
  }
}
