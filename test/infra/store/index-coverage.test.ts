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

type Query = [filter: Filter<Row>, sort?: Sort<Row>]

/** What an index serves, and what it does not serve. */
function itServes(what: string, spec: CollectionSpec<Row>, served: readonly Query[], unserved: readonly Query[]): void {
  it(what, () => {
    for (const [queries, expected] of [
      [served, true],
      [unserved, false],
    ] as const)
      for (const query of queries) expect(isServedByIndex(spec, ...query), JSON.stringify(query)).to.equal(expected)
  })
}

describe('isServedByIndex', () => {
  const LISTED = { _id: { $in: ['a', 'b'] } }
  const RANGE = { _id: { $gt: 'a' } }
  itServes(
    'serves ids without any declared index: listed ones in any order, a range in its own',
    on(),
    [[{ _id: 'a' }], [LISTED], [RANGE], [{ ...LISTED, kind: 'x' }, { at: 1 }], [RANGE, { _id: -1 }]],
    [[RANGE, { at: 1 }], [{ _id: { $exists: true } }]],
  )

  itServes(
    'serves the first field of an index and further conditions, not a later field alone nor an empty filter',
    on({ fields: { app: 1, at: -1 } }),
    [
      [{ app: 'a' }],
      [{ app: null }],
      [{ app: { $in: ['a', 'b'] } }],
      [{ app: { $in: [] } }],
      [{ app: { $gte: 'a', $lt: 'b' } }],
      [{ app: 'a', kind: { $gt: 'x' }, left: { $exists: false } }],
    ],
    [[{ at: 1 }], [{ kind: 'x' }], [{}]],
  )

  itServes('serves dotted paths', on({ fields: { 'kind.of': 1 } }), [[{ 'kind.of': 'x' }]], [[{ kind: 'x' }]])

  itServes(
    'serves the order of the fields after the fixed ones, forward and backward',
    on({ fields: { app: 1, at: -1, kind: 1 } }),
    [
      [{ app: 'a' }, { at: -1, kind: 1 }],
      [{ app: 'a' }, { at: 1, kind: -1 }],
      [{ app: 'a', at: 5 }, { kind: 1 }],
      [{ app: 'a', at: 5, kind: 'x' }, { _id: -1 }],
      [{ app: 'a', at: 5, kind: 'x' }, {}],
      [
        { app: 'a', at: { $gt: 1 } },
        { at: 1, kind: -1 },
      ],
      [{ app: { $in: ['a', 'b'] } }, { at: -1, kind: 1 }],
      [{ app: { $in: ['a', 'b'] } }, { app: -1, at: 1, kind: -1 }],
      [{ app: 'a' }, { app: 1, at: 1, kind: -1 }],
      [{}, { app: 1, at: -1, kind: 1 }],
      [{}, { _id: 1 }],
    ],
    [
      [{ app: 'a' }, { at: 1, kind: 1 }],
      [{ app: 'a' }, { at: -1 }],
      [{ app: 'a' }, { kind: 1, at: -1 }],
      [{ app: 'a' }, { kind: 1 }],
      [{ app: 'a' }, {}],
      [{ app: 'a', at: { $gt: 1 } }, { kind: 1 }],
      [{ kind: 'x' }, { _id: 1 }],
      [{ kind: 'x' }, { app: 1, at: -1, kind: 1 }],
    ],
  )

  itServes(
    'serves any order of one document of a unique index, which needs no order by _id',
    on({ fields: { app: 1, mail: 1 }, unique: true }),
    [
      [{ app: 'a', mail: 'm' }, { at: 1 }],
      [{ app: 'a' }, { mail: 1 }],
    ],
    [[{ app: 'a' }, { _id: 1 }]],
  )

  const having = (partial: Filter<Row>) => on({ fields: { due: 1 }, partial })
  itServes(
    'serves a filter that implies that the condition of a partial index is met: a field exists',
    having({ due: { $exists: true } }),
    [[{ due: { $lte: 5 } }, { due: 1 }], [{ due: 5 }], [{ due: { $in: [1, 2] } }]],
    [[{ due: null }], [{ due: { $in: [1, null] } }]],
  )
  itServes(
    '… a field has a value, exactly its documents in its order or unordered, but not an empty filter',
    having({ kind: 'open' }),
    [
      [{ due: 5, kind: 'open' }],
      [{ due: 5, kind: { $in: ['open'] } }],
      [{ kind: 'open' }, { due: 1 }],
      [{ kind: 'open' }],
    ],
    [
      [{ due: 5 }],
      [{ due: 5, kind: 'shut' }],
      [{ due: 5, kind: { $in: ['open', 'shut'] } }],
      [{ kind: 'open', app: 'a' }, { due: 1 }],
      [{}, { due: 1 }],
    ],
  )
  itServes('… one of several', having({ kind: { $in: ['a', 'b'] } }), [[{ due: 5, kind: 'b' }]], [])
  itServes(
    '… a range',
    having({ left: { $gt: 0 } }),
    [[{ due: 5, left: { $gt: 0 } }], [{ due: 5, left: { $gte: 1 } }], [{ due: 5, left: 3 }]],
    [[{ due: 5, left: { $gte: 0 } }], [{ due: 5, left: '3' }]],
  )
  itServes('… up to a limit', having({ left: { $lte: 9 } }), [[{ due: 5, left: { $lt: 9 } }]], [])

  const after: Filter<Row> = {
    $or: [
      { app: 'a', at: { $gt: 5 } },
      { app: 'a', at: 5, _id: { $gt: 'x' } },
    ],
  }
  itServes(
    'serves $or when every branch is served, or the conditions beside it, and the page after a document',
    on({ fields: { app: 1, at: 1 } }, { fields: { mail: 1 } }),
    [
      [{ $or: [{ app: 'a' }, { mail: 'm' }] }],
      [{ app: 'a', $or: [{ kind: 'k' }, { left: 1 }] }, { at: 1 }],
      [after, { at: 1 }],
    ],
    [[{ $or: [{ app: 'a' }, { kind: 'k' }] }], [{ $or: [] }], [after, { kind: 1 }]],
  )

  it('throws for a filter with an undefined member', () => {
    const vague = { app: undefined } as unknown as Filter<Row>
    expect(() => isServedByIndex(on(), vague)).to.throw(TypeError)
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
