import { expect } from 'chai'
import { Duplicate } from '../../../infra/store/docs.ts'
import { failure, type StoreFixture, things } from './collections.ts'

export function modifyCases({ things: docs, coded, counters, fresh }: StoreFixture): void {
  const counter = async (_id: string) => (await counters().get([_id])).get(_id)

  it('answers the document after the update, and leaves its revision as it is', async () => {
    const group = fresh()
    await docs().insert([{ _id: group, rev: 4, group, n: 1 }])
    expect(await docs().modify({ _id: group }, { $inc: { n: 2 } })).to.deep.equal({ _id: group, rev: 4, group, n: 3 })
  })

  it('answers null when no document matches, and inserts none', async () => {
    const group = fresh()
    await docs().insert([{ _id: group, rev: 1, group, n: 1 }])
    expect(await docs().modify({ _id: group, n: 2 }, { $inc: { n: 1 } })).to.equal(null)
    expect(await docs().modify({ _id: `${group}x` }, { $inc: { n: 1 } })).to.equal(null)
    expect(await docs().count({ group })).to.equal(1)
    expect((await docs().get([group])).get(group)?.n).to.equal(1)
  })

  it('updates only one of several matching documents', async () => {
    const group = fresh()
    await docs().insert(things(group, 3, () => ({ n: 0 })))
    expect(await docs().modify({ group, n: 0 }, { $set: { n: 1 } })).to.include({ group, n: 1 })
    expect(await docs().count({ group, n: 1 })).to.equal(1)
  })

  it('gives each document to one of several parallel callers', async () => {
    const group = fresh()
    await docs().insert(things(group, 10, () => ({ n: 0 })))
    const claim = (_: unknown, i: number) => docs().modify({ group, n: 0 }, { $set: { n: i + 1 } })
    const claims = await Promise.all(Array.from({ length: 30 }, claim))
    const claimed = claims.filter(doc => doc !== null)
    expect(claimed).to.have.length(10)
    expect(new Set(claimed.map(doc => doc._id)).size).to.equal(10)
    expect(await docs().count({ group, n: 0 })).to.equal(0)
  })

  it('counts every one of 100 parallel increments', async () => {
    const _id = fresh()
    await counters().insert([{ _id, n: 0 }])
    const after = await Promise.all(Array.from({ length: 100 }, () => counters().modify({ _id }, { $inc: { n: 1 } })))
    expect(new Set(after.map(doc => doc?.n)).size).to.equal(100)
    expect((await counter(_id))?.n).to.equal(100)
  })

  it('throws Duplicate when a unique index refuses, and leaves the document as it was', async () => {
    const group = fresh()
    await coded().insert([
      { _id: `${group}a`, code: `${group}1` },
      { _id: `${group}b`, code: `${group}2` },
    ])
    const refused = await failure(coded().modify({ _id: `${group}b` }, { $set: { code: `${group}1`, note: 'x' } }))
    expect(refused).to.be.instanceOf(Duplicate)
    expect((await coded().get([`${group}b`])).get(`${group}b`)).to.deep.equal({ _id: `${group}b`, code: `${group}2` })
  })

  describe('with upsert', () => {
    const upsert = true

    it('inserts the filter’s equalities and the update', async () => {
      const _id = fresh()
      const update = { $inc: { n: 2 }, $set: { granted: 5, 'data.first': true } }
      const filter = { _id, kind: 'sms', 'window.of': 'day', spent: { $gte: 0 }, group: { $eq: 'g' } }
      const doc = await counters().modify(filter, update, { upsert })
      const expected = { _id, kind: 'sms', group: 'g', window: { of: 'day' }, n: 2, granted: 5, data: { first: true } }
      expect(doc).to.deep.equal(expected)
      expect(await counter(_id)).to.deep.equal(expected)
    })

    it('updates a stored document', async () => {
      const _id = fresh()
      const count = () => counters().modify({ _id }, { $inc: { n: 1 } }, { upsert })
      await count()
      expect(await count()).to.deep.equal({ _id, n: 2 })
    })

    it('sets purge_at on insert', async () => {
      const _id = fresh()
      const purge_at = new Date(Date.UTC(2100, 0, 1))
      const doc = await counters().modify({ _id }, { $inc: { n: 1 }, $set: { purge_at } }, { upsert })
      expect(doc).to.deep.equal({ _id, n: 1, purge_at })
    })

    it('inserts one document for 50 parallel upserts of an id, and counts each', async () => {
      const _id = fresh()
      const update = { $inc: { n: 1 }, $push: { data: { $each: [1] } } }
      await Promise.all(Array.from({ length: 50 }, () => counters().modify({ _id }, update, { upsert })))
      const doc = await counter(_id)
      expect(doc?.n).to.equal(50)
      expect(doc?.data).to.have.length(50)
    })

    it('throws Duplicate when the id is taken by a document that does not match the rest', async () => {
      const _id = fresh()
      await counters().insert([{ _id, n: 40 }])
      const refused = await failure(counters().modify({ _id, n: { $lt: 40 } }, { $inc: { n: 1 } }, { upsert }))
      expect(refused).to.be.instanceOf(Duplicate)
      expect(await counter(_id)).to.deep.equal({ _id, n: 40 })
    })

    it('grants exactly 40 of 100 parallel callers when the rest of the filter says "below 40"', async () => {
      const _id = fresh()
      const take = () => counters().modify({ _id, n: { $lt: 40 } }, { $inc: { n: 1 } }, { upsert })
      const outcomes = await Promise.allSettled(Array.from({ length: 100 }, take))
      const refusals = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
      for (const refusal of refusals) expect(refusal).to.be.instanceOf(Duplicate)
      expect(refusals).to.have.length(60)
      expect((await counter(_id))?.n).to.equal(40)
    })

    it('throws Duplicate when a unique index refuses the new document', async () => {
      const group = fresh()
      await coded().insert([{ _id: `${group}a`, code: group }])
      const refused = await failure(coded().modify({ _id: `${group}b` }, { $set: { code: group } }, { upsert }))
      expect(refused).to.be.instanceOf(Duplicate)
      expect((await coded().get([`${group}b`])).size).to.equal(0)
    })

    it('throws without an _id to insert', async () => {
      const group = fresh()
      const anonymous = counters().modify({ group }, { $inc: { n: 1 } }, { upsert })
      expect(await failure(anonymous)).to.be.instanceOf(TypeError)
      expect(await counters().count({ group })).to.equal(0)
    })
  })
}
