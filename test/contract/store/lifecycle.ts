import { expect } from 'chai'
import { Unavailable } from '../../../infra/unavailable.ts'
import { failure, ids, type StoreFixture, type StoreUnderTest, things } from './collections.ts'

export function lifecycleCases({ open, fresh }: StoreFixture): void {
  const withStore = async (test: (under: StoreUnderTest) => Promise<void>): Promise<void> => {
    const under = await open()
    try {
      await test(under)
    } finally {
      await under.close()
    }
  }

  it('answers a ping', () => withStore(under => under.store.ping()))

  it("tells the time of the engine's clock", () =>
    withStore(async ({ store, now }) => {
      await store.ping()
      const [before, time, after] = [now(), await store.time(), now()]
      expect(time, 'to the millisecond').to.satisfy(Number.isInteger)
      expect(time).to.be.within(before - 1, after + 1)
    }))

  it('keeps collections apart', () =>
    withStore(async ({ store }) => {
      await store.docs('coded').insert([{ _id: 'same', code: 'c' }])
      expect(await store.docs('counters').insert([{ _id: 'same', n: 1 }])).to.deep.equal(['inserted'])
      expect((await store.docs('things').get(['same'])).size).to.equal(0)
    }))

  it('keeps data and unique indexes when it is opened again', () =>
    withStore(async ({ store, reopen }) => {
      const all = things(fresh(), 20, i => ({ email: `${i}@example.com`, data: { i } }))
      const purge_at = new Date(Date.UTC(2100, 0, 1))
      await store.docs('things').insert(all)
      await store.docs('things').change([{ _id: all[0]?._id ?? '', rev: 1, update: { $set: { n: 1 } } }])
      await store.docs('counters').modify({ _id: 'c' }, { $inc: { n: 1 }, $set: { purge_at } }, { upsert: true })
      const again = await reopen()
      const found = await again.docs('things').get(ids(all))
      expect(found.size).to.equal(20)
      expect(found.get(all[0]?._id ?? '')).to.deep.equal({ ...all[0], rev: 2, n: 1 })
      expect(found.get(all[7]?._id ?? '')).to.deep.equal(all[7])
      expect((await again.docs('counters').get(['c'])).get('c')).to.deep.equal({ _id: 'c', n: 1, purge_at })
      const twin = { ...things(fresh(), 1)[0], _id: 'twin', rev: 1, group: all[3]?.group ?? '', email: '3@example.com' }
      expect(await again.docs('things').insert([twin])).to.deep.equal(['duplicate'])
    }))

  it('rejects every call with Unavailable once it is closed', () =>
    withStore(async ({ store }) => {
      const docs = store.docs('things')
      const stored = things(fresh(), 1)
      await docs.insert(stored)
      await store.close()
      const calls = [
        () => store.ping(),
        () => store.time(),
        () => docs.get(['x']),
        () => docs.get(ids(stored)),
        () => docs.find({ group: 'x' }, { sort: {}, limit: 1 }),
        () => docs.count({ group: 'x' }),
        () => docs.insert(things(fresh(), 1)),
        () => docs.change([{ _id: 'x', rev: 1, update: {} }]),
        () => docs.update([{ ids: ['x'], update: { $set: { n: 1 } } }]),
        () => docs.modify({ _id: 'x' }, { $set: { n: 1 } }),
        () => docs.remove({ _id: 'x' }, 1),
      ]
      for (const call of calls) expect(await failure(call())).to.be.instanceOf(Unavailable)
      await store.close()
    }))

  it('finishes or rejects the calls under way when it closes, and leaves none hanging', () =>
    withStore(async ({ store }) => {
      const calls = Array.from({ length: 20 }, () => store.docs('things').insert(things(fresh(), 10)))
      const settled = Promise.allSettled(calls)
      await store.close()
      for (const outcome of await settled)
        if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(Unavailable)
    }))
}
