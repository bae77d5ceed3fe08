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

describe('servedBy', () => {
  const served = (spec: CollectionSpec<Row>, filter: Filter<Row>, sort?: Sort<Row>) =>
    isServedByIndex(spec, filter, sort)

  describe('by _id', () => {
    it('serves one, several and a range, without any index', () => {
      expect(served(on(), { _id: 'a' })).to.equal(true)
      expect(served(on(), { _id: { $in: ['a', 'b'] } })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } })).to.equal(true)
    })
    it('serves any sort of ids that are listed, but a range only in its own order', () => {
      expect(served(on(), { _id: { $in: ['a', 'b'] }, kind: 'x' }, { at: 1 })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } }, { _id: -1 })).to.equal(true)
      expect(served(on(), { _id: { $gt: 'a' } }, { at: 1 })).to.equal(false)
    })
    it('does not serve $ne or $exists', () => {
      expect(served(on(), { _id: { $ne: 'a' } })).to.equal(false)
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
    it('lets other conditions ride along', () => {
      expect(served(spec, { app: 'a', kind: { $ne: 'x' }, left: { $exists: false } })).to.equal(true)
    })
    it('does not serve a later field alone, nor a field it does not have, nor everything', () => {
      expect(served(spec, { at: 1 })).to.equal(false)
      expect(served(spec, { kind: 'x' })).to.equal(false)
      expect(served(spec, {})).to.equal(false)
    })
    it('takes dotted paths for what they are', () => {
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
    it('does not serve half turned, half given, or given in another order', () => {
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
    it('merges the runs of a list', () => {
      expect(served(spec, { app: { $in: ['a', 'b'] } }, { at: -1, kind: 1 })).to.equal(true)
      expect(served(spec, { app: { $in: ['a', 'b'] } }, { app: -1, at: 1, kind: -1 })).to.equal(true)
    })
    it('does not mind a sort that names what is fixed anyway', () => {
      expect(served(spec, { app: 'a' }, { app: 1, at: 1, kind: -1 })).to.equal(true)
    })
    it('serves everything in the order of an index, but nothing that has to be looked for on the way', () => {
      expect(served(spec, {}, { app: 1, at: -1, kind: 1 })).to.equal(true)
      expect(served(spec, {}, { _id: 1 })).to.equal(true)
      expect(served(spec, { kind: 'x' }, { _id: 1 })).to.equal(false)
      expect(served(spec, { kind: 'x' }, { app: 1, at: -1, kind: 1 })).to.equal(false)
    })
  })

  describe('by a unique index', () => {
    const spec = on({ fields: { app: 1, mail: 1 }, unique: true })
    it('serves any order of the one document', () => {
      expect(served(spec, { app: 'a', mail: 'm' }, { at: 1 })).to.equal(true)
    })
    it('knows no ties, and so no order by _id', () => {
      expect(served(spec, { app: 'a' }, { mail: 1 })).to.equal(true)
      expect(served(spec, { app: 'a' }, { _id: 1 })).to.equal(false)
    })
  })

  describe('by a partial index', () => {
    const having = (partial: Filter<Row>) => on({ fields: { due: 1 }, partial })
    it('serves a filter that says at least as much', () => {
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
    it('does not serve one that says less, or something else', () => {
      expect(served(having({ due: { $exists: true } }), { due: null })).to.equal(false)
      expect(served(having({ due: { $exists: true } }), { due: { $in: [1, null] } })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5 })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5, kind: 'shut' })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5, kind: { $in: ['open', 'shut'] } })).to.equal(false)
      expect(served(having({ kind: 'open' }), { due: 5, kind: { $ne: 'shut' } })).to.equal(false)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: { $gte: 0 } })).to.equal(false)
      expect(served(having({ left: { $gt: 0 } }), { due: 5, left: '3' })).to.equal(false)
    })
    it('serves all that it holds, in its order or in none, but not all there is', () => {
      expect(served(having({ kind: 'open' }), { kind: 'open' }, { due: 1 })).to.equal(true)
      expect(served(having({ kind: 'open' }), { kind: 'open' })).to.equal(true)
      expect(served(having({ kind: 'open' }), { kind: 'open', app: 'a' }, { due: 1 })).to.equal(false)
      expect(served(having({ kind: 'open' }), {}, { due: 1 })).to.equal(false)
    })
  })

  describe('with $or', () => {
    const spec = on({ fields: { app: 1, at: 1 } }, { fields: { mail: 1 } })
    it('serves when every branch is', () => {
      expect(served(spec, { $or: [{ app: 'a' }, { mail: 'm' }] })).to.equal(true)
      expect(served(spec, { $or: [{ app: 'a' }, { kind: 'k' }] })).to.equal(false)
      expect(served(spec, { $or: [] })).to.equal(false)
    })
    it('serves when what stands beside it is', () => {
      expect(served(spec, { app: 'a', $or: [{ kind: 'k' }, { left: 1 }] }, { at: 1 })).to.equal(true)
    })
    it('serves a page that goes on after the last of the page before', () => {
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

  it('refuses a filter that leaves a member undefined', () => {
    const vague = { app: undefined } as unknown as Filter<Row>
    expect(() => served(on(), vague)).to.throw(TypeError)
  })
})

describe('keyOf', () => {
  it('ends a plain index in _id, turned as its last field', () => {
    expect(keyOf({ fields: { app: 1, at: -1 } })).to.deep.equal([
      ['app', 1],
      ['at', -1],
      ['_id', -1],
    ])
  })
  it('leaves a unique index, and one that has _id, as they are', () => {
    expect(keyOf({ fields: { app: 1 }, unique: true })).to.deep.equal([['app', 1]])
    expect(keyOf({ fields: { _id: 1, app: 1 } })).to.deep.equal([
      ['_id', 1],
      ['app', 1],
    ])
  })
})

describe('orderOf', () => {
  const spec = on({ fields: { app: 1, at: 1 } }, { fields: { app: 1, mail: 1 }, unique: true })
  it('ends in _id, turned as the last field', () => {
    expect(orderOf(spec, { app: 'a' }, { at: -1 })).to.deep.equal([
      ['at', -1],
      ['_id', -1],
    ])
    expect(orderOf(spec, { app: 'a' }, {})).to.deep.equal([['_id', 1]])
    expect(orderOf(spec, { app: 'a' }, { _id: -1, at: 1 })).to.deep.equal([['_id', -1]])
  })
  it('leaves _id out where a unique index allows no ties', () => {
    expect(orderOf(spec, { app: 'a' }, { mail: 1 })).to.deep.equal([['mail', 1]])
    expect(orderOf(spec, {}, { app: 1, mail: 1 })).to.deep.equal([
      ['app', 1],
      ['mail', 1],
    ])
  })
  it('keeps _id where a unique index serves several that may tie in another field', () => {
    const listed: Filter<Row> = { app: 'a', mail: { $in: ['m', 'n'] } }
    expect(isServedByIndex(spec, listed, { kind: 1 })).to.equal(true)
    expect(orderOf(spec, listed, { kind: 1 })).to.deep.equal([
      ['kind', 1],
      ['_id', 1],
    ])
  })
})
