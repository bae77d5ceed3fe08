import { expect } from 'chai'
import { Duplicate, type GroupUpdate } from '../../../infra/store/docs.ts'
import { failure, ids, type StoreFixture, type Thing, things } from './collections.ts'

export function updateCases({ things: docs, counters, fresh }: StoreFixture): void {
  const insertThings = async (count: number, more: (i: number) => Partial<Thing> = () => ({})): Promise<Thing[]> => {
    const all = things(fresh(), count, more)
    await docs().insert(all)
    return all
  }
  const stored = async (all: readonly Thing[]): Promise<(Thing | undefined)[]> => {
    const found = await docs().get(ids(all))
    return all.map(({ _id }) => found.get(_id))
  }
  const numbers = async (all: readonly Thing[]) => (await stored(all)).map(doc => doc?.n)
  const addOne = { $inc: { n: 1 } }
  const double = [{ $set: { n: { $multiply: ['$n', 2] } } }]

  it('applies one update to many documents at any revision, and leaves the revision as it is', async () => {
    const all = await insertThings(4, i => ({ n: i, rev: i + 1 }))
    const update = { ids: ids(all), update: { $inc: { n: 10 }, $set: { data: 'seen' } } }
    expect(await docs().update([update])).to.deep.equal(all.map(() => 'updated'))
    expect(await stored(all)).to.deep.equal(all.map(doc => ({ ...doc, n: (doc.n ?? 0) + 10, data: 'seen' })))
  })

  it('computes each document from itself', async () => {
    const all = await insertThings(3, i => ({ n: i + 1 }))
    expect(await docs().update([{ ids: ids(all), update: double }])).to.deep.equal(['updated', 'updated', 'updated'])
    expect(await numbers(all)).to.deep.equal([2, 4, 6])
  })

  it('updates a document that has no revision, and gives it none', async () => {
    const _id = fresh()
    await counters().insert([{ _id, n: 1 }])
    expect(await counters().update([{ ids: [_id], update: addOne }])).to.deep.equal(['updated'])
    expect((await counters().get([_id])).get(_id)).to.deep.equal({ _id, n: 2 })
  })

  it('answers missing by position, and inserts no missing document', async () => {
    const [a, removed, b] = await insertThings(3, () => ({ n: 0 }))
    if (!a || !removed || !b) throw new Error('not inserted')
    await docs().remove({ _id: removed._id }, 1)
    const update = { ids: ['never was', a._id, removed._id, b._id], update: addOne }
    expect(await docs().update([update])).to.deep.equal(['missing', 'updated', 'missing', 'updated'])
    expect(await docs().update([{ ids: ['never was'], update: addOne }])).to.deep.equal(['missing'])
    expect(await numbers([a, b])).to.deep.equal([1, 1])
    expect((await docs().get(['never was', removed._id])).size).to.equal(0)
  })

  it('takes several updates in one call and answers in their order: shared, single, and of no document', async () => {
    const all = await insertThings(5, i => ({ n: i + 1 }))
    const [a = '', b = '', c = '', d = '', e = ''] = ids(all)
    const updates: GroupUpdate<Thing>[] = [
      { ids: [a, 'never was', b], update: double },
      { ids: [c], update: addOne },
      { ids: [], update: addOne },
      { ids: ['never was'], update: addOne },
      { ids: [d, e], update: { $set: { n: 0 } } },
    ]
    expect(await docs().update(updates)).to.deep.equal([
      'updated',
      'missing',
      'updated',
      'updated',
      'missing',
      'updated',
      'updated',
    ])
    expect(await numbers(all)).to.deep.equal([2, 4, 4, 0, 0])
  })

  it('applies every update of a document that several name', async () => {
    const all = await insertThings(2, () => ({ n: 0 }))
    const [a = '', b = ''] = ids(all)
    const updates: GroupUpdate<Thing>[] = [
      { ids: [a, b], update: addOne },
      { ids: [a], update: { $inc: { n: 10 } } },
      { ids: [b, a], update: { $inc: { n: 100 } } },
    ]
    expect(await docs().update(updates)).to.deep.equal(Array(5).fill('updated'))
    expect(await numbers(all)).to.deep.equal([111, 101])
  })

  it('updates a document twice whose id is given twice', async () => {
    const all = await insertThings(2, () => ({ n: 0 }))
    const [a = '', b = ''] = ids(all)
    const update = { ids: [a, 'never was', a, b, a, 'never was'], update: addOne }
    const answers = await docs().update([update])
    expect(answers).to.deep.equal(['updated', 'missing', 'updated', 'updated', 'updated', 'missing'])
    expect(await numbers(all)).to.deep.equal([3, 1])
  })

  it('does not make a change lose: the revision that was read still wins', async () => {
    const all = await insertThings(1, () => ({ n: 0 }))
    const [_id = ''] = ids(all)
    await docs().update([{ ids: [_id], update: { $set: { data: 'updated' } } }])
    expect(await docs().change([{ _id, rev: 1, update: addOne }])).to.deep.equal(['won'])
    expect((await stored(all))[0]).to.include({ rev: 2, n: 1, data: 'updated' })
  })

  it('loses none of 50 updates of the same documents at once', async () => {
    const all = await insertThings(3, () => ({ n: 0 }))
    const [a = ''] = ids(all)
    const calls = Array.from({ length: 50 }, (_, i) =>
      docs().update([{ ids: i % 2 === 0 ? [a] : ids(all), update: addOne }]),
    )
    expect((await Promise.all(calls)).flat()).to.deep.equal(Array(100).fill('updated'))
    expect(await numbers(all)).to.deep.equal([50, 25, 25])
  })

  it('updates 2 000 documents by one update, and by an update each', async () => {
    const all = await insertThings(2_000, () => ({ n: 0 }))
    const shared = await docs().update([{ ids: ids(all), update: addOne }])
    const single = await docs().update(all.map(({ _id }, n) => ({ ids: [_id], update: { $inc: { n } } })))
    expect(new Set([...shared, ...single])).to.deep.equal(new Set(['updated']))
    expect(await numbers(all)).to.deep.equal(all.map((_, n) => n + 1))
  })

  for (const count of [1, 2])
    it(`throws Duplicate when a unique index refuses an update of ${count}`, async () => {
      const all = await insertThings(count + 1, i => ({ email: `${i}@example.com` }))
      const [taken, ...others] = all
      const update = { $set: { email: taken?.email ?? null } }
      expect(await failure(docs().update([{ ids: ids(others), update }]))).to.be.instanceOf(Duplicate)
      expect(await stored(all)).to.deep.equal(all)
    })

  it('takes an empty list', async () => {
    expect(await docs().update([])).to.deep.equal([])
    expect(await docs().update([{ ids: [], update: addOne }])).to.deep.equal([])
  })
}
