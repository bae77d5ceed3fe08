// The columns that the embedded store fills beside a document: what they hold, and what a write costs SQLite.
import { expect } from 'chai'
import fc from 'fast-check'
import Database from 'libsql'
import type { Doc } from '../../../infra/store/docs.ts'
import { keyInDoc, keyOf } from '../../../infra/store/embedded/index-key.ts'
import { createEncode } from '../../../infra/store/embedded/json.ts'
import { type Table, tableOf } from '../../../infra/store/embedded/table.ts'
import type { CollectionSpec } from '../../../infra/store/store.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { anyText } from '../../support/any-text.ts'
import { propertyRuns } from '../../support/property-runs.ts'

describe('the columns of the embedded store', () => {
  const database = new Database(':memory:')
  const tables = Object.entries(CONTRACT_COLLECTIONS as Record<string, CollectionSpec>).map(([name, spec]) =>
    tableOf(name, spec),
  )
  before(() => {
    for (const { create, indexes } of tables)
      for (const sql of [create, ...indexes.map(each => each.sql)]) database.exec(sql)
  })
  const rows = (sql: string, params: unknown[]): unknown[][] => database.prepare(sql).raw().all(params) as unknown[][]
  const things = tables.find(table => table.collection === 'things') as Table

  /** Of each step of SQLite's program: its name, then its operands. */
  const program = (sql: string): string[][] =>
    rows(`EXPLAIN ${sql}`, Array(sql.split('?').length - 1).fill('')).map(row => row.slice(1).map(String))
  const stepsOf = (name: string, sql: string): number => program(sql).filter(([step]) => step === name).length

  it('are all that SQLite reads of a document when it writes or purges', () => {
    for (const { insert, replace, columns, drop, purge, spec } of tables)
      for (const sql of [insert, replace([]), replace(columns), drop, ...(spec.purged ? [purge] : [])])
        expect(program(sql).flat().join(' '), sql).to.not.match(/json/i)
  })

  it('leave an index alone when none of its columns changed', () => {
    const changing = (...names: string[]) =>
      things.replace(things.columns.filter(column => names.includes(column.name.slice(1, -1))))
    expect(stepsOf('IdxInsert', changing())).to.equal(0)
    expect(stepsOf('IdxInsert', changing('key owner.city'))).to.equal(1)
    expect(stepsOf('IdxInsert', changing('key rank'))).to.equal(2)
    expect(stepsOf('IdxInsert', changing('key active')), 'in the condition of an index only').to.equal(1)
  })

  it('hold the key that SQLite would compute from the document', () => {
    const scalar = fc.oneof(
      fc.integer(),
      fc.constantFrom(0.5, -0, 2 ** 53, 2 ** 60, -1e300, Number.NaN, Number.POSITIVE_INFINITY),
      anyText(),
      fc.boolean(),
      fc.constantFrom(null, undefined, {}, { c: 1 }, new Date(0), new Date(Number.NaN)),
    )
    const encode = createEncode(false)
    const property = fc.property(scalar, value => {
      const doc = encode({ _id: 'x', value } as Doc)
      const computed = `SELECT ${keyInDoc('value')} AS computed FROM (SELECT ? AS doc)`
      const [answer] = rows(`SELECT quote(computed), quote(?), computed = ? FROM (${computed})`, [
        keyOf(value),
        keyOf(value),
        doc,
      ])
      expect(answer?.[2], `${answer?.[0]} and ${answer?.[1]}`).to.equal(1)
    })
    fc.assert(property, { numRuns: propertyRuns(150) })
  })
})
