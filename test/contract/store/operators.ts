import { expect } from 'chai'
import type { Operators } from '../../../infra/store/docs.ts'
import type { StoreFixture, Thing } from './collections.ts'

// Each operator on a document, by `change` and by `modify`, and the document afterwards.
type Case = [title: string, before: Partial<Thing>, update: Operators<Thing>, after: Partial<Thing>]

const CASES: Case[] = [
  ['$set writes a field', { n: 1 }, { $set: { n: 2 } }, { n: 2 }],
  ['$set replaces an object whole', { data: { a: 1, b: 2 } }, { $set: { data: { c: 3 } } }, { data: { c: 3 } }],
  [
    '$set of a dotted path leaves its siblings',
    { data: { a: 1, b: 2 } },
    { $set: { 'data.a': 9 } },
    { data: { a: 9, b: 2 } },
  ],
  ['$set of a dotted path makes what is missing', {}, { $set: { 'data.a.b': 1 } }, { data: { a: { b: 1 } } }],
  ['$set of null', { n: 1 }, { $set: { data: null } }, { n: 1, data: null }],
  ['$set of an undefined member leaves it', { n: 1 }, { $set: { n: undefined, data: 1 } }, { n: 1, data: 1 }],
  [
    '$set of text that looks like an expression',
    {},
    { $set: { data: '$n', rank: '$$ROOT' } },
    { data: '$n', rank: '$$ROOT' },
  ],
  ['$set of a path into a map', { data: { x: 1 } }, { $set: { 'data.+41 79': 2 } }, { data: { x: 1, '+41 79': 2 } }],
  ['$unset takes a field away', { n: 1, data: 2 }, { $unset: { n: true } }, { data: 2 }],
  ['$unset of a dotted path', { data: { a: 1, b: 2 } }, { $unset: { 'data.a': '' } }, { data: { b: 2 } }],
  ['$unset of what is not there', { n: 1 }, { $unset: { 'data.a': 1, rank: true } }, { n: 1 }],
  ['$inc adds', { n: 5 }, { $inc: { n: -7 } }, { n: -2 }],
  ['$inc begins at 0', {}, { $inc: { n: 3, 'data.hits': 1 } }, { n: 3, data: { hits: 1 } }],
  ['$inc past 32 bits', { n: 2 ** 31 - 1 }, { $inc: { n: 1 } }, { n: 2 ** 31 }],
  ['$inc by a fraction', { n: 1 }, { $inc: { n: 0.5 } }, { n: 1.5 }],
  ['$max keeps the higher', { n: 5 }, { $max: { n: 8 } }, { n: 8 }],
  ['$max leaves the higher', { n: 5 }, { $max: { n: 3 } }, { n: 5 }],
  ['$max of a missing field sets it', {}, { $max: { n: 3 } }, { n: 3 }],
  ['$push makes the list', {}, { $push: { 'data.list': { $each: [1] } } }, { data: { list: [1] } }],
  [
    '$push appends all',
    { list: [1] },
    { $push: { list: { $each: [2, { a: [3] }, [4]] } } },
    { list: [1, 2, { a: [3] }, [4]] },
  ],
  ['$push of none', { list: [1] }, { $push: { list: { $each: [] } } }, { list: [1] }],
  [
    '$push $slice -3 keeps the last',
    { list: [1, 2] },
    { $push: { list: { $each: [3, 4], $slice: -3 } } },
    { list: [2, 3, 4] },
  ],
  [
    '$push $slice 2 keeps the first',
    { list: [1] },
    { $push: { list: { $each: [2, 3], $slice: 2 } } },
    { list: [1, 2] },
  ],
  ['$push $slice 0 empties', { list: [1] }, { $push: { list: { $each: [2], $slice: 0 } } }, { list: [] }],
  ['$push $slice past the end', { list: [1] }, { $push: { list: { $each: [2], $slice: -9 } } }, { list: [1, 2] }],
  [
    '$pull by a member of objects',
    { list: [{ id: 'a', n: 1 }, { id: 'b' }, 'a', { id: 'a' }] },
    { $pull: { list: { id: 'a' } } },
    { list: [{ id: 'b' }, 'a'] },
  ],
  [
    '$pull by $in on a member',
    { list: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
    { $pull: { list: { id: { $in: ['a', 'c', 'z'] } } } },
    { list: [{ id: 'b' }] },
  ],
  [
    '$pull by several members and a range',
    {
      list: [
        { k: 'x', at: 1 },
        { k: 'x', at: 5 },
        { k: 'y', at: 1 },
      ],
    },
    { $pull: { list: { k: 'x', at: { $lt: 3 } } } },
    {
      list: [
        { k: 'x', at: 5 },
        { k: 'y', at: 1 },
      ],
    },
  ],
  [
    '$pull of what is not there',
    { list: [{ id: 'a' }] },
    { $pull: { list: { id: 'b' }, 'data.list': { id: 'a' } } },
    { list: [{ id: 'a' }] },
  ],
  ['$addToSet adds what is new', { list: ['a'] }, { $addToSet: { list: 'b' } }, { list: ['a', 'b'] }],
  ['$addToSet leaves what is there', { list: ['a', 'b'] }, { $addToSet: { list: 'a' } }, { list: ['a', 'b'] }],
  [
    '$addToSet compares objects by value',
    { list: [{ a: 1 }] },
    { $addToSet: { list: { a: 1 } } },
    { list: [{ a: 1 }] },
  ],
  ['$addToSet makes the list', {}, { $addToSet: { list: 1 } }, { list: [1] }],
  [
    'several at once',
    { n: 1, list: [1], data: { a: 1, b: 1 }, due_at: 5 },
    {
      $set: { 'data.a': 2 },
      $unset: { due_at: true },
      $inc: { n: 1 },
      $push: { list: { $each: [2] } },
      $max: { 'data.b': 7 },
    },
    { n: 2, list: [1, 2], data: { a: 2, b: 7 } },
  ],
]

export function operatorCases({ things: docs, fresh }: StoreFixture): void {
  for (const [title, before, update, after] of CASES)
    it(title, async () => {
      const group = fresh()
      const [changed, modified] = [`${group}c`, `${group}m`]
      const whole = (_id: string, rev: number, rest: Partial<Thing>): Thing => ({ _id, rev, group, ...rest })
      await docs().insert([whole(changed, 1, before), whole(modified, 1, before)])
      expect(await docs().change([{ _id: changed, rev: 1, update }])).to.deep.equal(['won'])
      expect(await docs().modify({ _id: modified }, update)).to.deep.equal(whole(modified, 1, after))
      const stored = await docs().get([changed, modified])
      expect(stored.get(changed)).to.deep.equal(whole(changed, 2, after))
      expect(stored.get(modified)).to.deep.equal(whole(modified, 1, after))
    })

  it('$set and $unset change purge_at', async () => {
    const _id = fresh()
    const purge_at = new Date(Date.UTC(2100, 0, 1))
    await docs().insert([{ _id, rev: 1, group: _id }])
    expect((await docs().modify({ _id }, { $set: { purge_at } }))?.purge_at).to.deep.equal(purge_at)
    expect((await docs().get([_id])).get(_id)?.purge_at).to.deep.equal(purge_at)
    expect(await docs().modify({ _id }, { $unset: { purge_at: true } })).to.not.have.property('purge_at')
  })
}
