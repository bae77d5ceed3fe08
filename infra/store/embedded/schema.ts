// Brings the database to its declaration: creates tables, and creates, changes and drops indexes. All of it or nothing.
import { StartProblem } from '../../start-problem.ts'
import { Duplicate } from '../docs.ts'
import type { Engine } from './engine.ts'
import { quoted } from './key.ts'
import type { IndexSql, Table } from './table.ts'

export function declare(engine: Engine, tables: readonly Table[]): void {
  engine.run('BEGIN IMMEDIATE')
  try {
    for (const table of tables) declareTable(engine, table)
    engine.run('COMMIT')
  } catch (error) {
    engine.run('ROLLBACK')
    throw error
  }
}

function declareTable(engine: Engine, table: Table): void {
  engine.run(table.create)
  // Indexes that SQLite made itself, for the `_id`, have no SQL.
  const had = "FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL ORDER BY name"
  const names = engine.column(`SELECT name ${had}`, [table.collection]) as string[]
  const definitions = engine.column(`SELECT sql ${had}`, [table.collection])
  const current = new Map(names.map((name, i) => [name, definitions[i]]))
  const wanted = new Map(table.indexes.map(index => [index.name, index]))
  for (const [name, sql] of current) if (wanted.get(name)?.sql !== sql) engine.run(`DROP INDEX ${quoted(name)}`)
  const created = table.indexes.filter(index => current.get(index.name) !== index.sql)
  for (const index of created) create(engine, table, index)
  if (created.length > 0) refuseLists(engine, table)
}

/** Documents from before a path was indexed. */
function refuseLists(engine: Engine, table: Table): void {
  const found = table.lists.find(({ sql }) => engine.value(sql) === 1)
  if (found)
    throw new StartProblem(`${table.collection} cannot be indexed by ${found.path}: some documents hold a list there`)
}

function create(engine: Engine, table: Table, index: IndexSql): void {
  try {
    engine.run(index.sql)
  } catch (error) {
    if (!(error instanceof Duplicate)) throw error
    throw new StartProblem(`The index ${index.name} cannot be unique: ${table.collection} holds duplicates`, {
      cause: error,
    })
  }
}
