import { expect } from 'chai'
import { type StoreFixture, things } from './collections.ts'

export function removeCases({ things: docs, fresh }: StoreFixture): void {
  it('removes matching documents and answers how many', async () => {
    const group = fresh()
    await docs().insert(things(group, 10, i => ({ n: i % 2 })))
    expect(await docs().remove({ group, n: 1 }, 100)).to.equal(5)
    expect(await docs().count({ group })).to.equal(5)
    expect(await docs().count({ group, n: 1 })).to.equal(0)
  })

  it('removes at most the limit, so that a caller can go on in steps', async () => {
    const group = fresh()
    await docs().insert(things(group, 10))
    const steps = []
    for (let i = 0; i < 4; i++) steps.push(await docs().remove({ group }, 4))
    expect(steps).to.deep.equal([4, 4, 2, 0])
  })

  it('removes by _id, and nothing at limit 0', async () => {
    const group = fresh()
    await docs().insert(things(group, 2))
    expect(await docs().remove({ _id: `${group}-00000` }, 0)).to.equal(0)
    expect(await docs().remove({ _id: `${group}-00000` }, 1)).to.equal(1)
    expect(await docs().remove({ _id: `${group}-00000` }, 1)).to.equal(0)
    expect(await docs().remove({ _id: { $in: [`${group}-00000`, `${group}-00001`] } }, 9)).to.equal(1)
  })

  it('counts each document for one of several parallel callers', async () => {
    const group = fresh()
    await docs().insert(things(group, 50))
    const removed = await Promise.all(Array.from({ length: 5 }, () => docs().remove({ group }, 50)))
    expect(removed.reduce((sum, n) => sum + n)).to.equal(50)
  })

  it('keeps a document that stopped matching meanwhile', async () => {
    const group = fresh()
    const all = things(group, 40, () => ({ n: 0 }))
    await docs().insert(all)
    const saving = all.map(({ _id }) => docs().modify({ _id }, { $set: { n: 1 } }))
    const [removed, ...saved] = await Promise.all([docs().remove({ group, n: 0 }, 40), ...saving])
    expect(await docs().count({ group, n: 1 })).to.equal(saved.filter(doc => doc !== null).length)
    expect(await docs().count({ group })).to.equal(40 - removed)
  })

  it('frees the values of a unique index', async () => {
    const group = fresh()
    const claim = (id: string) => docs().insert([{ _id: `${group}${id}`, rev: 1, group, slot: 1, active: true }])
    expect(await claim('a')).to.deep.equal(['inserted'])
    expect(await claim('b')).to.deep.equal(['duplicate'])
    await docs().remove({ _id: `${group}a` }, 1)
    expect(await claim('b')).to.deep.equal(['inserted'])
  })
}
