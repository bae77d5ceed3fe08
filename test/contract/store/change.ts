import { expect } from 'chai'
import { type Change, Duplicate } from '../../../infra/store/docs.ts'
import { failure, ids, type StoreFixture, type Thing, things } from './collections.ts'

export function changeCases({ open, things: docs, fresh }: StoreFixture): void {
  const one = async (more: Partial<Thing> = {}): Promise<string> => {
    const group = fresh()
    await docs().insert([{ _id: group, rev: 1, group, n: 0, ...more }])
    return group
  }
  const read = async (_id: string) => (await docs().get([_id])).get(_id)
  const add = (_id: string, rev: number, n = 1): Change<Thing> => ({ _id, rev, update: { $inc: { n } } })
  const won = (answers: string[]) => answers.filter(answer => answer === 'won').length

  it('wins on the revision it was computed from, and makes it one higher', async () => {
    const _id = await one()
    expect(await docs().change([{ _id, rev: 1, update: { $set: { n: 5, data: { a: 1 } } } }])).to.deep.equal(['won'])
    expect(await read(_id)).to.deep.equal({ _id, rev: 2, group: _id, n: 5, data: { a: 1 } })
    expect(await docs().change([add(_id, 2)])).to.deep.equal(['won'])
    expect(await read(_id)).to.include({ rev: 3, n: 6 })
  })

  it('raises the revision even when nothing else changes', async () => {
    const _id = await one()
    expect(await docs().change([{ _id, rev: 1, update: { $set: { n: 0 } } }])).to.deep.equal(['won'])
    expect(await docs().change([{ _id, rev: 2, update: {} }])).to.deep.equal(['won'])
    expect(await read(_id)).to.include({ rev: 3, n: 0 })
  })

  it('is lost on any other revision, and changes nothing', async () => {
    const _id = await one({ rev: 7 })
    expect(await docs().change([add(_id, 6)])).to.deep.equal(['lost'])
    expect(await docs().change([add(_id, 8)])).to.deep.equal(['lost'])
    expect(await read(_id)).to.include({ rev: 7, n: 0 })
  })

  it('is lost on every earlier revision', async () => {
    const _id = await one()
    for (let rev = 1; rev <= 30; rev++) await docs().change([add(_id, rev)])
    for (const rev of [1, 2, 15, 29, 30]) expect(await docs().change([add(_id, rev)])).to.deep.equal(['lost'])
    expect(await read(_id)).to.include({ rev: 31, n: 30 })
  })

  it('of a missing document is lost, and inserts nothing', async () => {
    const _id = await one()
    await docs().remove({ _id }, 1)
    expect(await docs().change([add(_id, 1), add('never was', 1)])).to.deep.equal(['lost', 'lost'])
    expect((await docs().get([_id, 'never was'])).size).to.equal(0)
  })

  it('answers won or lost by position, for right, old, future and missing revisions in one call', async () => {
    const group = fresh()
    const all = things(group, 8, () => ({ n: 0 }))
    await docs().insert(all)
    const moved = [1, 4, 5].map(i => all[i]?._id ?? '')
    await docs().change(moved.map(_id => add(_id, 1, 100)))
    await docs().remove({ _id: all[6]?._id ?? '' }, 1)
    const answers = await docs().change([...all.map(doc => add(doc._id, 1)), add(all[7]?._id ?? '', 9)])
    const expected = ['won', 'lost', 'won', 'won', 'lost', 'lost', 'lost', 'won', 'lost']
    expect(answers).to.deep.equal(expected)
    const stored = await docs().get(ids(all))
    expect(all.map(doc => stored.get(doc._id)?.n)).to.deep.equal([1, 100, 1, 1, 100, 100, undefined, 1])
    expect(all.map(doc => stored.get(doc._id)?.rev)).to.deep.equal([2, 2, 2, 2, 2, 2, undefined, 2])
  })

  it('applies a path as operators do, whatever the documents hold there', async () => {
    const [object, list, missing, old] = [
      await one({ data: { 0: 'a' } }),
      await one({ data: ['a', 'b'] }),
      await one(),
      await one({ data: ['a'], rev: 2 }),
    ]
    const set = (_id: string) => ({ _id, rev: 1, update: { $set: { 'data.0': 'x' } } })
    const answers = await docs().change([object, list, missing, old].map(set))
    expect(answers).to.deep.equal(['won', 'won', 'won', 'lost'])
    const stored = await docs().get([object, list, missing, old])
    expect([...stored].map(([_id, doc]) => [_id, doc.data, doc.rev])).to.have.deep.members([
      [object, { 0: 'x' }, 2],
      [list, ['x', 'b'], 2],
      [missing, { 0: 'x' }, 2],
      [old, ['a'], 2],
    ])
  })

  it('fails where a path leads through a value that holds nothing, and changes nothing', async () => {
    const _id = await one({ data: 'text' })
    const update = { $set: { 'data.a': 1, n: 5 } }
    expect(await failure(docs().change([{ _id, rev: 1, update }]))).to.be.instanceOf(Error)
    expect(await read(_id)).to.include({ rev: 1, n: 0, data: 'text' })
    expect(await docs().change([{ _id, rev: 2, update }])).to.deep.equal(['lost'])
  })

  it('adds members to lists and removes them', async () => {
    const members = [{ id: 'a' }, { id: 'b' }, 'text', { id: ['a'] }, { id: 'c' }]
    const _id = await one({ list: members.slice(0, 3) })
    const add = { $push: { list: { $each: members.slice(3) } }, $unset: { n: true } } as const
    expect(await docs().change([{ _id, rev: 1, update: add }])).to.deep.equal(['won'])
    expect(await read(_id)).to.deep.equal({ _id, rev: 2, group: _id, list: members })
    const remove = { $pull: { list: { id: { $in: ['a', 'c'] } } } }
    expect(await docs().change([{ _id, rev: 2, update: remove }])).to.deep.equal(['won'])
    expect(await read(_id)).to.deep.equal({ _id, rev: 3, group: _id, list: [{ id: 'b' }, 'text'] })
  })

  it('computes a change from the document itself', async () => {
    const _id = await one({ n: 5 })
    const double = [{ $set: { n: { $multiply: ['$n', 2] } } }]
    expect(await docs().change([{ _id, rev: 1, update: double }])).to.deep.equal(['won'])
    expect(await docs().change([{ _id, rev: 1, update: double }])).to.deep.equal(['lost'])
    expect(await read(_id)).to.include({ rev: 2, n: 10 })
  })

  it('lets only the first win when one call changes a document twice from the same revision', async () => {
    const _id = await one()
    expect(await docs().change([add(_id, 1, 10), add(_id, 1, 1)])).to.deep.equal(['won', 'lost'])
    expect(await read(_id)).to.include({ rev: 2, n: 10 })
  })

  it('applies the changes of one document in their order', async () => {
    const [a, b] = [await one(), await one()]
    const changes = [add(a, 1, 1), add(b, 5, 1), add(a, 2, 10), add(b, 1, 10), add(a, 2, 100), add(a, 3, 1_000)]
    expect(await docs().change(changes)).to.deep.equal(['won', 'lost', 'won', 'won', 'lost', 'won'])
    expect(await read(a)).to.include({ rev: 4, n: 1_011 })
    expect(await read(b)).to.include({ rev: 2, n: 10 })
  })

  it('has exactly one winner of 50 writers on one revision', async () => {
    const _id = await one()
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => docs().change([add(_id, 1, i + 1)])))
    expect(won(answers.flat())).to.equal(1)
    expect(await read(_id)).to.include({ rev: 2, n: answers.findIndex(([answer]) => answer === 'won') + 1 })
  })

  it('changes 2 000 documents in one call', async () => {
    const all = things(fresh(), 2_000)
    await docs().insert(all)
    expect(won(await docs().change(all.map(doc => add(doc._id, 1))))).to.equal(2_000)
    expect(won(await docs().change(all.map((doc, i) => add(doc._id, i % 2 ? 1 : 2))))).to.equal(1_000)
  })

  it('applies exactly the changes it answers as won, when two handles race over 200 documents', async () => {
    const under = await open()
    try {
      const other = await under.reopen()
      const first = await under.store.ping().then(
        () => under.store,
        () => other,
      )
      const all = things(fresh(), 200, () => ({ n: 0 }))
      await other.docs('things').insert(all)
      const wins = new Map<string, number>()
      const race = async (racing: typeof other): Promise<void> => {
        for (let round = 0; round < 10; round++) {
          const seen = await racing.docs('things').get(ids(all))
          const changes = [...seen.values()].map(doc => add(doc._id, doc.rev))
          const answers = await racing.docs('things').change(changes)
          for (const [i, { _id }] of changes.entries())
            if (answers[i] === 'won') wins.set(_id, (wins.get(_id) ?? 0) + 1)
        }
      }
      await Promise.all([race(first), race(other), race(first), race(other)])
      const stored = await other.docs('things').get(ids(all))
      for (const { _id } of all) {
        expect(stored.get(_id)?.n, _id).to.equal(wins.get(_id))
        expect(stored.get(_id)?.rev, _id).to.equal(1 + (wins.get(_id) ?? 0))
      }
    } finally {
      await under.close()
    }
  })

  it('throws Duplicate when a unique index refuses, and leaves the document as it was', async () => {
    const group = fresh()
    const [a, b] = [`${group}a`, `${group}b`]
    await docs().insert([
      { _id: a, rev: 1, group, email: 'a@example.com' },
      { _id: b, rev: 1, group, email: 'b@example.com' },
    ])
    const change: Change<Thing> = { _id: b, rev: 1, update: { $set: { email: 'a@example.com', n: 1 } } }
    expect(await failure(docs().change([change]))).to.be.instanceOf(Duplicate)
    expect(await read(b)).to.deep.equal({ _id: b, rev: 1, group, email: 'b@example.com' })
  })

  it('moves a document into a partial unique index and out of it', async () => {
    const group = fresh()
    const [a, b] = [`${group}a`, `${group}b`]
    const active = (_id: string, rev: number, active: boolean) => ({ _id, rev, update: { $set: { active } } })
    await docs().insert([a, b].map(_id => ({ _id, rev: 1, group, slot: 1, active: false })))
    expect(await docs().change([active(a, 1, true)])).to.deep.equal(['won'])
    expect(await failure(docs().change([active(b, 1, true)]))).to.be.instanceOf(Duplicate)
    expect(await docs().change([active(a, 2, false)])).to.deep.equal(['won'])
    expect(await docs().change([active(b, 1, true)])).to.deep.equal(['won'])
  })

  it('takes an empty list', async () => {
    expect(await docs().change([])).to.deep.equal([])
  })
}
