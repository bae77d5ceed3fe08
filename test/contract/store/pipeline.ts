import { expect } from 'chai'
import type { Pipeline } from '../../../infra/store/docs.ts'
import { Duplicate } from '../../../infra/store/docs.ts'
import { type Counter, failure, type StoreFixture } from './collections.ts'

// Expressions over one document, and the value of each.
const DATA = { a: 7, b: 2, f: 2.75, neg: -3.2, t: true, nil: null, s: 'text', deep: { x: 5 }, l: [1, 2, 3, 4] }
const OBJECTS = [
  { id: 'p', at: 1 },
  { id: 'q', at: 5 },
]

const EXPRESSIONS: [title: string, expression: unknown, value: unknown][] = [
  ['a field', '$data.a', 7],
  ['a nested field', '$data.deep.x', 5],
  ['a whole object', '$data.deep', { x: 5 }],
  ['a literal', { $literal: '$data.a' }, '$data.a'],
  ['$add', { $add: ['$data.a', '$data.b', 1] }, 10],
  ['$add past 32 bits', { $add: [2 ** 31 - 1, '$data.a'] }, 2 ** 31 + 6],
  ['$subtract', { $subtract: ['$data.b', '$data.a'] }, -5],
  ['$multiply', { $multiply: ['$data.a', '$data.b', 1_000_000_000] }, 14_000_000_000],
  ['$floor', { $floor: '$data.f' }, 2],
  ['$floor below zero', { $floor: '$data.neg' }, -4],
  ['$min of several', { $min: ['$data.a', '$data.b', 9] }, 2],
  ['$max of several', { $max: ['$data.a', '$data.b', 0] }, 7],
  ['$max passes over what is missing', { $max: ['$data.none', '$data.b'] }, 2],
  ['$eq', [{ $eq: ['$data.a', 7] }, { $eq: ['$data.a', '7'] }], [true, false]],
  ['$ne', [{ $ne: ['$data.a', 7] }, { $ne: ['$data.a', 8] }], [false, true]],
  ['$gt', [{ $gt: ['$data.b', 2] }, { $gt: ['$data.b', 1] }], [false, true]],
  ['$gte', [{ $gte: ['$data.b', 3] }, { $gte: ['$data.b', 2] }], [false, true]],
  ['$not', [{ $not: ['$data.t'] }, { $not: ['$data.none'] }], [false, true]],
  ['$cond', { $cond: [{ $gt: ['$data.a', 3] }, 'yes', 'no'] }, 'yes'],
  ['$cond, the other way', { $cond: [{ $gt: ['$data.a', 9] }, 'yes', '$data.b'] }, 2],
  ['$ifNull of missing and null', [{ $ifNull: ['$data.none', 1] }, { $ifNull: ['$data.nil', 2] }], [1, 2]],
  ['$ifNull of what is there', { $ifNull: ['$data.b', 9] }, 2],
  ['$in', [{ $in: [3, '$data.l'] }, { $in: [9, '$data.l'] }], [true, false]],
  ['$size', { $size: '$data.l' }, 4],
  ['$slice from the front', { $slice: ['$data.l', 2] }, [1, 2]],
  ['$slice of none', { $slice: ['$data.l', { $subtract: ['$data.b', 2] }] }, []],
  ['$slice from the end', { $slice: ['$data.l', -3] }, [2, 3, 4]],
  ['$arrayElemAt', [{ $arrayElemAt: ['$data.l', 1] }, { $arrayElemAt: ['$data.l', 4] }], [2, null]],
  ['$sum of a list', [{ $sum: '$data.l' }, { $sum: '$data.none' }, { $sum: [] }], [10, 0, 0]],
  ['$concatArrays', { $concatArrays: ['$data.l', [9], []] }, [1, 2, 3, 4, 9]],
  ['$filter', { $filter: { input: '$data.l', cond: { $gt: ['$$this', '$data.b'] } } }, [3, 4]],
  ['$filter with a name', { $filter: { input: '$data.o', as: 'it', cond: { $gt: ['$$it.at', 3] } } }, [OBJECTS[1]]],
  ['$map', { $map: { input: '$data.l', in: { $multiply: ['$$this', '$data.b'] } } }, [2, 4, 6, 8]],
  ['$map to objects', { $map: { input: '$data.o', as: 'it', in: { k: '$$it.id' } } }, [{ k: 'p' }, { k: 'q' }]],
  ['an object of expressions', { sum: { $add: ['$data.a', 1] }, same: '$data.s' }, { sum: 8, same: 'text' }],
]

export function pipelineCases({ counters, fresh }: StoreFixture): void {
  const made = async (more: Partial<Counter>): Promise<string> => {
    const _id = fresh()
    await counters().insert([{ _id, ...more }])
    return _id
  }
  const stored = async (_id: string) => (await counters().get([_id])).get(_id)

  for (const [title, expression, value] of EXPRESSIONS)
    it(title, async () => {
      const data = { ...DATA, o: OBJECTS }
      const _id = await made({ data })
      const expected = { _id, data, window: value }
      expect(await counters().modify({ _id }, [{ $set: { window: expression } }])).to.deep.equal(expected)
      expect(await stored(_id)).to.deep.equal(expected)
    })

  it('writes dotted paths and keeps their siblings', async () => {
    const _id = await made({ n: 3, window: { of: 'day' } })
    expect(await counters().modify({ _id }, [{ $set: { 'window.start': '$n' } }])).to.deep.equal({
      _id,
      n: 3,
      window: { of: 'day', start: 3 },
    })
  })

  it('computes every expression of a stage from the document as the stage before left it', async () => {
    const _id = await made({ n: 1, granted: 10 })
    const swapAndAdd: Pipeline = [
      { $set: { n: '$granted', granted: '$n' } },
      { $set: { spent: { $add: ['$n', '$granted', 100] } } },
    ]
    expect(await counters().modify({ _id }, swapAndAdd)).to.deep.equal({ _id, n: 10, granted: 1, spent: 111 })
  })

  it('removes fields', async () => {
    const _id = await made({ n: 1, granted: 2, window: { start: 1, of: 'x' } })
    const after = await counters().modify({ _id }, [{ $unset: ['granted', 'window.start'] }, { $set: { n: 5 } }])
    expect(after).to.deep.equal({ _id, n: 5, window: { of: 'x' } })
    expect(await stored(_id)).to.deep.equal(after)
  })

  it('keeps purge_at a Date', async () => {
    const purge_at = new Date(Date.UTC(2100, 0, 1))
    const _id = await made({ n: 1, purge_at })
    const later = new Date(Date.UTC(2101, 0, 1))
    expect((await counters().modify({ _id }, [{ $set: { n: 2 } }]))?.purge_at).to.deep.equal(purge_at)
    expect((await counters().modify({ _id }, [{ $set: { purge_at: later } }]))?.purge_at).to.deep.equal(later)
    expect((await stored(_id))?.purge_at).to.deep.equal(later)
  })

  it('takes the later of two dates', async () => {
    const [soon, late] = [new Date(Date.UTC(2100, 0, 1)), new Date(Date.UTC(2101, 0, 1))]
    const _id = await made({ n: 1, purge_at: soon })
    for (const date of [late, soon]) {
      const after = await counters().modify({ _id }, [{ $set: { purge_at: { $max: ['$purge_at', date] } } }])
      expect(after?.purge_at).to.deep.equal(late)
    }
    expect((await stored(_id))?.purge_at).to.deep.equal(late)
  })

  it('answers null when no document matches', async () => {
    expect(await counters().modify({ _id: fresh() }, [{ $set: { n: 1 } }])).to.equal(null)
  })

  const LIMIT = 40
  const grantWhatFits: Pipeline = [
    { $set: { granted: { $cond: [{ $gt: [LIMIT, { $ifNull: ['$n', 0] }] }, 1, 0] } } },
    { $set: { n: { $add: [{ $ifNull: ['$n', 0] }, '$granted'] } } },
  ]

  it('grants exactly 40 of 100 parallel callers, and gives each its own answer', async () => {
    const _id = fresh()
    const take = () => counters().modify({ _id }, grantWhatFits, { upsert: true })
    const answers = await Promise.all(Array.from({ length: 100 }, take))
    const granted = answers.filter(doc => doc?.granted === 1)
    expect(granted).to.have.length(LIMIT)
    expect(new Set(granted.map(doc => doc?.n)).size).to.equal(LIMIT)
    expect((await stored(_id))?.n).to.equal(LIMIT)
  })

  it('grants part of a batch when only part fits', async () => {
    const _id = await made({ n: 37 })
    const batch: Pipeline = [
      { $set: { granted: { $max: [0, { $min: [10, { $subtract: [LIMIT, '$n'] }] }] } } },
      { $set: { n: { $add: ['$n', '$granted'] } } },
    ]
    expect(await counters().modify({ _id }, batch)).to.deep.equal({ _id, n: 40, granted: 3 })
    expect(await counters().modify({ _id }, batch)).to.deep.equal({ _id, n: 40, granted: 0 })
  })

  it('starts a new window when the old one has passed', async () => {
    const _id = await made({ n: 9, window: { start: 1_000 } })
    const within = (now: number): Pipeline => [
      { $set: { 'window.start': { $multiply: [{ $floor: now / 1_000 }, 1_000] }, spent: '$window.start' } },
      { $set: { n: { $cond: [{ $eq: ['$spent', '$window.start'] }, { $add: ['$n', 1] }, 1] } } },
      { $unset: ['spent'] },
    ]
    expect(await counters().modify({ _id }, within(1_900))).to.deep.equal({ _id, n: 10, window: { start: 1_000 } })
    expect(await counters().modify({ _id }, within(2_100))).to.deep.equal({ _id, n: 1, window: { start: 2_000 } })
  })

  it('inserts on upsert, from the filter’s equalities', async () => {
    const _id = fresh()
    const update: Pipeline = [{ $set: { n: { $add: [{ $ifNull: ['$n', 0] }, 5] }, data: '$kind' } }]
    const doc = await counters().modify({ _id, kind: 'sms' }, update, { upsert: true })
    expect(doc).to.deep.equal({ _id, kind: 'sms', n: 5, data: 'sms' })
    expect(await counters().modify({ _id, kind: 'sms' }, update, { upsert: true })).to.include({ n: 10 })
    const other = counters().modify({ _id, kind: 'email' }, update, { upsert: true })
    expect(await failure(other)).to.be.instanceOf(Duplicate)
  })
}
