// SQLite's query plans for the adapter's statements: which index they use, and whether they sort.
import { expect } from 'chai'
import Database from 'libsql'
import type { Doc, Filter, Sort } from '../../../infra/store/docs.ts'
import { type Table, tableOf } from '../../../infra/store/embedded/table.ts'
import type { Collections } from '../../../infra/store/store.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { SERVED_QUERIES } from '../../support/served-queries.ts'

describe('query plans of the embedded store', () => {
  const collections: Collections = CONTRACT_COLLECTIONS
  const database = new Database(':memory:')
  const tables = new Map<string, Table>()
  before(() => {
    for (const [name, spec] of Object.entries(collections)) {
      const table = tableOf(name, spec)
      tables.set(name, table)
      database.exec(table.create)
      for (const { sql } of table.indexes) database.exec(sql)
    }
  })

  const table = (name: string): Table => tables.get(name) as Table
  const plan = (sql: string, params: unknown[]): string[] =>
    (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).raw().all(params) as unknown[][]).map(row => String(row[3]))
  const planOf = (name: string, filter: Filter<Doc>, sort: Sort<Doc>): string[] => {
    const { sql, params } = table(name).find(filter, sort)
    return plan(sql, params(10, 0))
  }

  it('searches an index for a list that is one parameter, too', () => {
    const long = Array.from({ length: 2_000 }, (_, i) => `x${i}`)
    for (const filter of [{ _id: { $in: long } }, { group: { $in: long } }]) {
      const { sql, params } = table('things').remove(filter)
      const steps = plan(sql, [...params, 10]).join('\n')
      expect(steps)
        .to.match(/SEARCH things USING (COVERING )?INDEX .+=\?/)
        .and.not.match(/SCAN things/)
    }
  })

  it('searches an index, and sorts nothing, with every index of the contract', () => {
    for (const [collection, filter, sort, index] of SERVED_QUERIES) {
      const [step = '', ...more] = planOf(collection, filter, sort)
      const query = `${JSON.stringify(filter)} by ${JSON.stringify(sort)}`
      expect(more, query).to.deep.equal([])
      expect(step.startsWith(`SEARCH ${collection} USING INDEX ${index} (`), `${query}: ${step}`).to.equal(true)
    }
    const declared = Object.keys(collections).flatMap(name => table(name).indexes.map(index => index.name))
    expect([...SERVED_QUERIES.map(([, , , index]) => index), 'counters to purge']).to.include.members(declared)
  })

  const after = [
    { group: 'x', rank: { $gt: 1 } },
    { group: 'x', rank: 1, _id: { $gt: 'y' } },
  ]
  const branching: [string, object, object][] = [
    ['a page after a cursor', { $or: after }, { rank: 1 }],
    ['alternatives within a group', { group: 'x', n: 1, $or: [{ rank: { $lt: 2 } }, { rank: 7 }] }, { rank: -1 }],
    ['several groups', { group: { $in: ['x', 'y'] } }, { rank: 1 }],
  ]
  for (const [title, filter, sort] of branching)
    it(`reads each branch in the order of the index: ${title}`, () => {
      const steps = planOf('things', filter, sort)
      const searches = steps.filter(step => step.includes(' things '))
      expect(searches).to.have.length(2)
      for (const search of searches)
        expect(search.startsWith(`SEARCH things USING INDEX things {group 1, rank 1} (`), search).to.equal(true)
      // The one sort is of the documents that the branches found, at most a page each.
      const afterBranches = steps.slice(steps.findLastIndex(step => step.includes(' things ')))
      expect(steps.filter(step => step.includes('TEMP B-TREE'))).to.deep.equal(
        afterBranches.filter(s => s.includes('TEMP B-TREE')),
      )
    })

  it('reads a whole collection along an index', () => {
    expect(planOf('things', {}, {})).to.deep.equal(['SCAN things USING INDEX sqlite_autoindex_things_1'])
    expect(planOf('counters', {}, { group: -1 } as Sort<Doc>)).to.deep.equal([
      'SCAN counters USING INDEX counters {group 1}',
    ])
  })

  const unordered: object[] = [
    { _id: 'x', n: 1 },
    { group: 'x' },
    { group: 'x', rank: 1 },
    { group: 'x', email: 'y' },
    { due_at: { $lt: 5 } },
    { $or: [{ group: 'x' }, { due_at: 5 }] },
  ]
  it('counts, modifies and removes by index', () => {
    for (const filter of unordered) {
      const { count: counting, match: matching, remove: removing } = table('things')
      const [count, match, remove] = [counting(filter), matching(filter), removing(filter)]
      const steps = [
        ...plan(count.sql, [...count.params]),
        ...plan(match.sql, match.params(1, 0)),
        ...plan(remove.sql, [...remove.params, 1]),
      ].filter(step => step.includes(' things '))
      for (const step of steps) expect(step, JSON.stringify(filter)).to.match(/^SEARCH things USING/)
    }
  })

  it('gets, replaces and purges by index', () => {
    const { get, getMany, replace, purge } = table('counters')
    const steps = [
      plan(get, ['x']),
      plan(getMany, ['["x"]']),
      plan(replace([]), ['{}', 'x']),
      plan(purge, [5, 5]),
    ].flat()
    const searches = steps.filter(step => step.includes(' counters '))
    expect(searches.length).to.be.greaterThan(3)
    for (const search of searches) expect(search).to.match(/^SEARCH counters USING/)
  })
})
