// Brings the database to its declaration: creates tables, and creates, changes and drops indexes, in one transaction.
import { StartProblem } from '../../start-problem.ts'
import { Duplicate } from '../docs.ts'
import { quoted } from './index-key.ts'
import type { Sqlite } from './sqlite.ts'
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
  sqlite.run(table.create)
  // The index that SQLite makes for the primary key has no SQL.
  const fromIndexes = "FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY name"
  const names = sqlite.column(`SELECT name ${fromIndexes}`, [table.collection]) as string[]
  const definitions = sqlite.column(`SELECT sql ${fromIndexes}`, [table.collection])
  const current = new Map(names.map((name, i) => [name, definitions[i]]))
  const wanted = new Map(table.indexes.map(index => [index.name, index]))
  for (const [name, sql] of current) if (wanted.get(name)?.sql !== sql) sqlite.run(`DROP INDEX ${quoted(name)}`)
  const created = table.indexes.filter(index => current.get(index.name) !== index.sql)
  for (const index of created) create(sqlite, table, index)
  if (created.length > 0) refuseLists(sqlite, table)
}

/** Documents that were inserted before a path was indexed may hold a list there. */
function refuseLists(sqlite: Sqlite, table: Table): void {
  const found = table.lists.find(({ sql }) => sqlite.value(sql) === 1)
  if (found)
    throw new StartProblem(`${table.collection} cannot be indexed by ${found.path}: some documents hold a list there`)
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
