import { expect } from 'chai'
import { type Filter, type Sort, Unindexed } from '../../../infra/store/docs.ts'
import { failure, type StoreFixture, type Thing } from './collections.ts'

export function unindexedCases({ things: docs, counters }: StoreFixture): void {
  const unserved: [string, Filter<Thing>][] = [
    ['a field without an index', { n: 1 }],
    ['a field that is not the first of its index', { rank: 1 }],
    ['$exists alone', { group: { $exists: true } }],
    ['a partial index that may not hold it', { due_at: null }],
    ['one branch of $or', { $or: [{ group: 'x' }, { n: 1 }] }],
  ]
  for (const [title, filter] of unserved)
    it(`is Unindexed in every method: ${title}`, async () => {
      const calls = [
        docs().find(filter, { sort: {}, limit: 1 }),
        docs().count(filter),
        docs().remove(filter, 1),
        docs().modify(filter, { $set: { data: 1 } }),
      ]
      for (const call of calls) expect(await failure(call)).to.be.instanceOf(Unindexed)
    })

  it('is Unindexed when it matches a whole collection, unless the page has the order of an index', async () => {
    const calls = [docs().count({}), docs().remove({}, 1), docs().modify({}, { $set: { data: 1 } })]
    for (const call of calls) expect(await failure(call)).to.be.instanceOf(Unindexed)
    await docs().find({}, { sort: { _id: 1 }, limit: 1 })
    await counters().find({}, { sort: { group: -1 }, limit: 1 })
  })

  const unsorted: [string, Filter<Thing>, Sort<Thing>][] = [
    ['no index has the field', { group: 'x' }, { n: 1 }],
    ['the order is not that of the index', { group: 'x' }, { 'owner.city': 1, rank: 1 }],
    ['a field between is not fixed', { group: 'x' }, { 'owner.city': 1 }],
    ['a range comes first', { group: { $gt: 'x' } }, { rank: 1 }],
    ['a partial index does not hold them all', {}, { due_at: 1 }],
  ]
  for (const [title, filter, sort] of unsorted)
    it(`is Unindexed when the sort is not served: ${title}`, async () => {
      expect(await failure(docs().find(filter, { sort, limit: 1 }))).to.be.instanceOf(Unindexed)
    })

  it('is no error where an index serves', async () => {
    await docs().find({ group: 'x', n: { $gt: 1 } }, { sort: { rank: -1 }, limit: 1 })
    await docs().find({ group: 'x', 'owner.city': 'y' }, { sort: { rank: 1 }, limit: 1 })
    await docs().find({ group: { $gt: 'x' } }, { sort: { group: 1 }, limit: 1 })
    await docs().find({ due_at: { $lt: 1 } }, { sort: { due_at: 1 }, limit: 1 })
  })
}
