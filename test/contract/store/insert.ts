import { expect } from 'chai'
import { ids, type StoreFixture, type Thing, things } from './collections.ts'

export function insertCases({ things: docs, coded, counters, fresh }: StoreFixture): void {
  const thing = (group: string, id: string, more: Partial<Thing> = {}): Thing => ({
    _id: `${group}-${id}`,
    rev: 1,
    group,
    ...more,
  })

  it('answers by position: a taken id is a duplicate, the others are inserted', async () => {
    const group = fresh()
    const all = things(group, 6)
    await docs().insert(all.filter((_, i) => i === 1 || i === 4))
    const answers = await docs().insert(all.map(doc => ({ ...doc, n: 7 })))
    expect(answers).to.deep.equal(['inserted', 'duplicate', 'inserted', 'inserted', 'duplicate', 'inserted'])
    const stored = await docs().get(ids(all))
    expect(all.map(doc => stored.get(doc._id)?.n)).to.deep.equal([7, undefined, 7, 7, undefined, 7])
  })

  it('inserts the first of two equal documents in one call, by id and by unique index', async () => {
    const group = fresh()
    const answers = await coded().insert([
      { _id: `${group}a`, code: `${group}1`, note: 'first' },
      { _id: `${group}a`, code: `${group}2`, note: 'same id' },
      { _id: `${group}b`, code: `${group}1`, note: 'same code' },
      { _id: `${group}c`, code: `${group}2`, note: 'free, since the second was refused' },
    ])
    expect(answers).to.deep.equal(['inserted', 'duplicate', 'duplicate', 'inserted'])
    const stored = await coded().get([`${group}a`, `${group}b`, `${group}c`])
    expect([...stored.values()].map(doc => doc.note)).to.have.members(['first', 'free, since the second was refused'])
  })

  it('answers duplicate, by position, for a value that a unique index has already', async () => {
    const group = fresh()
    await coded().insert([{ _id: `${group}a`, code: `${group}x` }])
    const answers = await coded().insert([
      { _id: `${group}b`, code: `${group}y` },
      { _id: `${group}c`, code: `${group}x` },
      { _id: `${group}d`, code: `${group}z` },
    ])
    expect(answers).to.deep.equal(['inserted', 'duplicate', 'inserted'])
    expect((await coded().get([`${group}c`])).size).to.equal(0)
  })

  it('distinguishes a number from its text in a unique index', async () => {
    const group = fresh()
    const answers = await coded().insert([
      { _id: `${group}a`, code: 5_000_001 },
      { _id: `${group}b`, code: '5000001' },
      { _id: `${group}c`, code: 5_000_001.0 },
    ])
    expect(answers).to.deep.equal(['inserted', 'inserted', 'duplicate'])
  })

  it('treats missing as null in a unique index, so only one document may lack the field', async () => {
    const group = fresh()
    const answers = await coded().insert([
      { _id: `${group}a` },
      { _id: `${group}b` },
      { _id: `${group}c`, code: null },
      { _id: `${group}d`, code: group },
    ])
    expect(answers).to.deep.equal(['inserted', 'duplicate', 'duplicate', 'inserted'])
  })

  it('allows duplicates among documents that a partial unique index leaves out', async () => {
    const group = fresh()
    const answers = await docs().insert([
      thing(group, 'a', { slot: 1, active: true }),
      thing(group, 'b', { slot: 1, active: false }),
      thing(group, 'c', { slot: 1 }),
      thing(group, 'd', { slot: 1, active: true }),
      thing(group, 'e', { slot: 2, active: true }),
      thing(fresh(), 'f', { slot: 1, active: true }),
    ])
    expect(answers).to.deep.equal(['inserted', 'inserted', 'inserted', 'duplicate', 'inserted', 'inserted'])
  })

  it('takes {$exists: true} for a sparse unique index: many without the field, one with null, one with each value', async () => {
    const group = fresh()
    const answers = await docs().insert([
      thing(group, 'a'),
      thing(group, 'b'),
      thing(group, 'c', { email: 'x@example.com' }),
      thing(group, 'd', { email: 'x@example.com' }),
      thing(group, 'e', { email: null }),
      thing(group, 'f', { email: null }),
    ])
    expect(answers).to.deep.equal(['inserted', 'inserted', 'inserted', 'duplicate', 'inserted', 'duplicate'])
  })

  it('inserts 5 000 documents in one call, and answers duplicate for as many', async () => {
    const group = fresh()
    const answers = await docs().insert(things(group, 5_000))
    expect(new Set(answers)).to.deep.equal(new Set(['inserted']))
    expect(answers).to.have.length(5_000)
    expect(await docs().count({ group })).to.equal(5_000)
    expect(new Set(await docs().insert(things(group, 5_000)))).to.deep.equal(new Set(['duplicate']))
  })

  it('inserts exactly one of 50 parallel inserts of an id', async () => {
    const _id = fresh()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => counters().insert([{ _id, n }])))
    const winner = answers.findIndex(([answer]) => answer === 'inserted')
    expect(answers.flat().filter(answer => answer === 'inserted')).to.have.length(1)
    expect((await counters().get([_id])).get(_id)?.n).to.equal(winner)
  })

  it('takes an empty list', async () => {
    expect(await docs().insert([])).to.deep.equal([])
  })
}
