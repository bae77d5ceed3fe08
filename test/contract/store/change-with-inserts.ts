import { expect } from 'chai'
import { type Change, type Doc, Duplicate, type Insertion } from '../../../infra/store/docs.ts'
import { failure, type StoreFixture, type Thing } from './collections.ts'

/** `offered`: whether the adapter writes documents of other collections with a change. */
export function changeWithInsertsCases(fixture: StoreFixture, offered: boolean): void {
  const { open, things: docs, counters, fresh, insertsWithChanges } = fixture
  const one = async (more: Partial<Thing> = {}): Promise<string> => {
    const group = fresh()
    await docs().insert([{ _id: group, rev: 1, group, n: 0, ...more }])
    return group
  }
  const read = async (_id: string) => (await docs().get([_id])).get(_id)
  const inserted = async (...ids: string[]) => [...(await counters().get(ids)).values()]
  const counter = (_id: string, n = 1): Insertion => ({ collection: 'counters', doc: { _id, n } as Doc })
  const add = (_id: string, rev: number, ...inserts: Insertion[]): Change<Thing> => ({
    _id,
    rev,
    update: { $inc: { n: 1 } },
    inserts,
  })

  it(offered ? 'are offered' : 'are not offered', () => {
    expect(insertsWithChanges()).to.equal(offered)
  })

  it('may be an empty list', async () => {
    const _id = await one()
    expect(await docs().change([add(_id, 1)])).to.deep.equal(['won'])
    expect(await read(_id)).to.include({ rev: 2, n: 1 })
  })

  if (!offered)
    it('are a TypeError, and nothing is written', async () => {
      const _id = await one()
      expect(await failure(docs().change([add(_id, 1, counter(_id))]))).to.be.instanceOf(TypeError)
      expect(await read(_id)).to.include({ rev: 1, n: 0 })
      expect(await inserted(_id)).to.deep.equal([])
    })
  else offeredCases()

  function offeredCases(): void {
    it('are written with a change that wins', async () => {
      const _id = await one()
      const thing: Insertion = { collection: 'things', doc: { _id: `${_id}-thing`, rev: 1, group: _id } as Doc }
      const purge_at = new Date(86_400_000)
      const purged: Insertion = { collection: 'counters', doc: { _id, purge_at } }
      expect(await docs().change([add(_id, 1, counter(`${_id}-2`, 2), purged, thing)])).to.deep.equal(['won'])
      expect(await read(_id)).to.include({ rev: 2, n: 1 })
      expect(await inserted(_id, `${_id}-2`)).to.have.deep.members([
        { _id: `${_id}-2`, n: 2 },
        { _id, purge_at },
      ])
      expect((await docs().find({ group: _id }, { sort: {}, limit: 9 })).map(doc => doc._id)).to.deep.equal([
        _id,
        `${_id}-thing`,
      ])
    })

    it('are not written with a change that is lost', async () => {
      const _id = await one()
      const changes = [
        add(_id, 2, counter(`${_id}-future`)),
        add(_id, 1, counter(`${_id}-right`)),
        add(_id, 1, counter(`${_id}-late`)),
        add('never was', 1, counter(`${_id}-missing`)),
      ]
      expect(await docs().change(changes)).to.deep.equal(['lost', 'won', 'lost', 'lost'])
      expect(await inserted(...['future', 'right', 'late', 'missing'].map(end => `${_id}-${end}`))).to.deep.equal([
        { _id: `${_id}-right`, n: 1 },
      ])
    })

    it('are those of the one winner of 50 writers on one revision', async () => {
      const _id = await one()
      const names = Array.from({ length: 50 }, (_, i) => `${_id}-${i}`)
      const answers = await Promise.all(names.map(name => docs().change([add(_id, 1, counter(name))])))
      const winner = answers.findIndex(([answer]) => answer === 'won')
      expect((await inserted(...names)).map(doc => doc._id)).to.deep.equal([names[winner]])
    })

    it('are left out when their _id or a unique value is taken, and the change wins', async () => {
      const _id = await one({ email: 'a@example.com' })
      await counters().insert([{ _id, n: 7 }])
      const sameEmail: Insertion = {
        collection: 'things',
        doc: { _id: `${_id}-same`, rev: 1, group: _id, email: 'a@example.com' } as Doc,
      }
      const change = add(_id, 1, counter(_id), sameEmail, counter(`${_id}-new`))
      expect(await docs().change([change])).to.deep.equal(['won'])
      expect(await read(_id)).to.include({ rev: 2, n: 1 })
      expect(await read(`${_id}-same`)).to.equal(undefined)
      expect(await inserted(_id, `${_id}-new`)).to.have.deep.members([
        { _id, n: 7 },
        { _id: `${_id}-new`, n: 1 },
      ])
    })

    it('are not written when a unique index refuses the change', async () => {
      const group = fresh()
      const [a, b] = [`${group}a`, `${group}b`]
      await docs().insert([
        { _id: a, rev: 1, group, email: 'a@example.com' },
        { _id: b, rev: 1, group, email: 'b@example.com' },
      ])
      const change: Change<Thing> = {
        _id: b,
        rev: 1,
        update: { $set: { email: 'a@example.com' } },
        inserts: [counter(b)],
      }
      expect(await failure(docs().change([change]))).to.be.instanceOf(Duplicate)
      expect(await inserted(b)).to.deep.equal([])
    })

    const UNSTORABLE: { what: string; insertion: Insertion }[] = [
      { what: 'cannot be stored', insertion: { collection: 'counters', doc: { _id: 'x', n: Number.NaN } as Doc } },
      { what: 'belongs to no collection', insertion: { collection: 'unknown', doc: { _id: 'x' } } },
    ]
    for (const { what, insertion } of UNSTORABLE)
      it(`fail the change, which then writes nothing, when one ${what}`, async () => {
        const _id = await one()
        expect(await failure(docs().change([add(_id, 1, counter(_id), insertion)]))).to.be.instanceOf(TypeError)
        expect(await read(_id)).to.include({ rev: 1, n: 0 })
        expect(await inserted(_id)).to.deep.equal([])
      })

    it('are there when the store is opened again', async () => {
      const under = await open()
      try {
        await under.store.docs('things').insert([{ _id: 'a', rev: 1, group: 'g', n: 0 }])
        await under.store.docs('things').change([add('a', 1, counter('b'))])
        const reopened = await under.reopen()
        expect((await reopened.docs('things').get(['a'])).get('a')).to.include({ rev: 2, n: 1 })
        expect((await reopened.docs('counters').get(['b'])).get('b')).to.deep.equal({ _id: 'b', n: 1 })
      } finally {
        await under.close()
      }
    })
  }
}
