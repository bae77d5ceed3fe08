import { expect } from 'chai'
import type { Doc, Filter, Sort } from '../../../infra/store/docs.ts'
import { isServedByIndex, keyOf, orderOf } from '../../../infra/store/index-coverage.ts'
import { type CollectionSpec, collection, type Index } from '../../../infra/store/store.ts'

interface Row extends Doc {
  app: string
  at: number
  kind: string
  mail?: string
  due?: number
  left: number
}

const on = (...indexes: Index<Row>[]): CollectionSpec<Row> => collection<Row>({ indexes })

describe('isServedByIndex', () => {
  const served = (spec: CollectionSpec<Row>, filter: Filter<Row>, sort?: Sort<Row>) =>
    isServedByIndex(spec, filter, sort)

  describe('by _id', () => {
    it('serves one id, several and a range, without any declared index', () => {
      expect(served(on(), { _id: 'a' })).to.equal(true)
      expect(served(on(), { _id: { $in: ['a', 'b'] } })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } })).to.equal(true)
    })
    it('serves any sort of listed ids, but a range of ids only in its own order', () => {
      expect(served(on(), { _id: { $in: ['a', 'b'] }, kind: 'x' }, { at: 1 })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } }, { _id: -1 })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } }, { at: 1 })).to.equal(false)
    })
    it('does not serve $exists', () => {
      expect(served(on(), { _id: { $exists: true } })).to.equal(false)
    })
  })

  describe('by the first fields of an index', () => {
    const spec = on({ fields: { app: 1, at: -1 } })
    it('serves equality, null, $in and ranges on the first field', () => {
      expect(served(spec, { app: 'a' })).to.equal(true)
      expect(served(spec, { app: null })).to.equal(true)
      expect(served(spec, { app: { $in: ['a', 'b'] } })).to.equal(true)
      expect(served(spec, { app: { $in: [] } })).to.equal(true)
      expect(served(spec, { app: { $gte: 'a', $lt: 'b' } })).to.equal(true)
    })
    it('serves further conditions on other fields', () => {
      expect(served(spec, { app: 'a', kind: { $gt: 'x' }, left: { $exists: false } })).to.equal(true)
    })
    it('does not serve a later field alone, nor a field outside the index, nor an empty filter', () => {
      expect(served(spec, { at: 1 })).to.equal(false)
      expect(served(spec, { kind: 'x' })).to.equal(false)
      expect(served(spec, {})).to.equal(false)
    })
    it('serves dotted paths', () => {
      expect(served(on({ fields: { 'kind.of': 1 } }), { 'kind.of': 'x' })).to.equal(true)
      expect(served(on({ fields: { 'kind.of': 1 } }), { kind: 'x' })).to.equal(false)
    })
  })

  describe('in the order of an index', () => {
    const spec = on({ fields: { app: 1, at: -1, kind: 1 } })
    it('serves the fields after the fixed ones, forward and backward', () => {
      expect(served(spec, { app: 'a' }, { at: -1, kind: 1 })).to.equal(true)
      expect(served(spec, { app: 'a' }, { at: 1, kind: -1 })).to.equal(true)
      expect(served(spec, { app: 'a', at: 5 }, { kind: 1 })).to.equal(true)
      expect(served(spec, { app: 'a', at: 5, kind: 'x' }, { _id: -1 })).to.equal(true)
      expect(served(spec, { app: 'a', at: 5, kind: 'x' }, {})).to.equal(true)
    })
    it('does not serve a sort with one direction turned, with a field left out, or in another order', () => {
      expect(served(spec, { app: 'a' }, { at: 1, kind: 1 })).to.equal(false)
      expect(served(spec, { app: 'a' }, { at: -1 })).to.equal(false)
      expect(served(spec, { app: 'a' }, { kind: 1, at: -1 })).to.equal(false)
      expect(served(spec, { app: 'a' }, { kind: 1 })).to.equal(false)
      expect(served(spec, { app: 'a' }, {})).to.equal(false)
    })
    it('serves a range in its own order only', () => {
      expect(served(spec, { app: 'a', at: { $gt: 1 } }, { at: 1, kind: -1 })).to.equal(true)
      expect(served(spec, { app: 'a', at: { $gt: 1 } }, { kind: 1 })).to.equal(false)
    })
    it('serves a list of values before the sort', () => {
      expect(served(spec, { app: { $in: ['a', 'b'] } }, { at: -1, kind: 1 })).to.equal(true)
      expect(served(spec, { app: { $in: ['a', 'b'] } }, { app: -1, at: 1, kind: -1 })).to.equal(true)
    })
    it('serves a sort that also names a fixed field', () => {
      expect(served(spec, { app: 'a' }, { app: 1, at: 1, kind: -1 })).to.equal(true)
    })
    it('serves an empty filter in the order of an index, but not a filter on other fields', () => {
      expect(served(spec, {}, { app: 1, at: -1, kind: 1 })).to.equal(true)
      expect(served(spec, {}, { _id: 1 })).to.equal(true)
      expect(served(spec, { kind: 'x' }, { _id: 1 })).to.equal(false)
      expect(served(spec, { kind: 'x' }, { app: 1, at: -1, kind: 1 })).to.equal(false)
    })
  })

  describe('by a unique index', () => {
    const spec = on({ fields: { app: 1, mail: 1 }, unique: true })
    it('serves any sort of one document', () => {
      expect(served(spec, { app: 'a', mail: 'm' }, { at: 1 })).to.equal(true)
    })
    it('has no equal documents, and so needs no order by _id', () => {
      expect(served(spec, { app: 'a' }, { mail: 1 })).to.equal(true)
      expect(served(spec, { app: 'a' }, { _id: 1 })).to.equal(false)
    })
  })

  describe('by a partial index', () => {
    const having = (partial: Filter<Row>) => on({ fields: { due: 1 }, partial })
    it('serves a filter that implies its condition', () => {
      expect(served(having({ due: { $exists: true } }), { due: { $lte: 5 } }, { due: 1 })).to.equal(true)
      expect(served(having({ due: { $exists: true } }), { due: 5 })).to.equal(true)
      expect(served(having({ due: { $exists: true } }), { due: { $in: [1, 2] } })).to.equal(true)
      expect(served(having({ kind: 'open' }), { due: 5, kind: 'open' })).to.equal(true)
      expect(served(having({ kind: 'open' }), { due: 5, kind: { $in: ['open'] } })).to.equal(true)
      expect(served(having({ kind: { $in: ['a', 'b'] } }), { due: 5, kind: 'b' })).to.equal(true)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: { $gt: 0 } })).to.equal(true)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: { $gte: 1 } })).to.equal(true)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: 3 })).to.equal(true)
      expect(served(having({ left: { $lte: 9 } }), { due: 5, left: { $lt: 9 } })).to.equal(true)
    })
    it('does not serve a filter that does not imply its condition', () => {
      expect(served(having({ due: { $exists: true } }), { due: null })).to.equal(false)
      expect(served(having({ due: { $exists: true } }), { due: { $in: [1, null] } })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5 })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5, kind: 'shut' })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5, kind: { $in: ['open', 'shut'] } })).to.equal(false)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: { $gte: 0 } })).to.equal(false)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: '3' })).to.equal(false)
    })
    it('serves exactly its documents, in its order or unordered, but not an empty filter', () => {
      expect(served(having({ kind: 'open' }), { kind: 'open' }, { due: 1 })).to.equal(true)
      expect(served(having({ kind: 'open' }), { kind: 'open' })).to.equal(true)
      expect(served(having({ kind: 'open' }), { kind: 'open', app: 'a' }, { due: 1 })).to.equal(false)
      expect(served(having({ kind: 'open' }), {}, { due: 1 })).to.equal(false)
    })
  })

  describe('with $or', () => {
    const spec = on({ fields: { app: 1, at: 1 } }, { fields: { mail: 1 } })
    it('serves when every branch is served', () => {
      expect(served(spec, { $or: [{ app: 'a' }, { mail: 'm' }] })).to.equal(true)
      expect(served(spec, { $or: [{ app: 'a' }, { kind: 'k' }] })).to.equal(false)
      expect(served(spec, { $or: [] })).to.equal(false)
    })
    it('serves when the conditions beside it are served', () => {
      expect(served(spec, { app: 'a', $or: [{ kind: 'k' }, { left: 1 }] }, { at: 1 })).to.equal(true)
    })
    it('serves the next page after the last document of a page', () => {
      const after: Filter<Row> = {
        $or: [
          { app: 'a', at: { $gt: 5 } },
          { app: 'a', at: 5, _id: { $gt: 'x' } },
        ],
      }
      expect(served(spec, after, { at: 1 })).to.equal(true)
      expect(served(spec, after, { kind: 1 })).to.equal(false)
    })
  })

  it('throws for a filter with an undefined member', () => {
    const vague = { app: undefined } as unknown as Filter<Row>
    expect(() => served(on(), vague)).to.throw(TypeError)
  })
})

describe('keyOf', () => {
  it('ends an index that is not unique in _id, in the direction of its last field', () => {
    expect(keyOf({ fields: { app: 1, at: -1 } })).to.deep.equal([
      ['app', 1],
      ['at', -1],
      ['_id', -1],
    ])
  })
  it('adds no _id to a unique index, nor to one that has it', () => {
    expect(keyOf({ fields: { app: 1 }, unique: true })).to.deep.equal([['app', 1]])
    expect(keyOf({ fields: { _id: 1, app: 1 } })).to.deep.equal([
      ['_id', 1],
      ['app', 1],
    ])
  })
})

describe('orderOf', () => {
  const spec = on({ fields: { app: 1, at: 1 } }, { fields: { app: 1, mail: 1 }, unique: true })
  it('ends in _id, in the direction of the last field', () => {
    expect(orderOf(spec, { app: 'a' }, { at: -1 })).to.deep.equal([
      ['at', -1],
      ['_id', -1],
    ])
    expect(orderOf(spec, { app: 'a' }, {})).to.deep.equal([['_id', 1]])
    expect(orderOf(spec, { app: 'a' }, { _id: -1, at: 1 })).to.deep.equal([['_id', -1]])
  })
  it('leaves _id out where a unique index allows no equal documents', () => {
    expect(orderOf(spec, { app: 'a' }, { mail: 1 })).to.deep.equal([['mail', 1]])
    expect(orderOf(spec, {}, { app: 1, mail: 1 })).to.deep.equal([
      ['app', 1],
      ['mail', 1],
    ])
  })
  it('keeps _id where documents served by a unique index may be equal in the sort', () => {
    const listed: Filter<Row> = { app: 'a', mail: { $in: ['m', 'n'] } }
    expect(isServedByIndex(spec, listed, { kind: 1 })).to.equal(true)
    expect(orderOf(spec, listed, { kind: 1 })).to.deep.equal([
      ['kind', 1],
      ['_id', 1],
    ])
  })
})
