import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { StartProblem } from '../../../infra/start-problem.ts'
import { type Doc, type Filter, Unindexed } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { type Collections, collection } from '../../../infra/store/store.ts'
import { testClock } from '../../support/clock.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

interface Item extends Doc {
  kind?: unknown
  of?: { place?: unknown } | { place?: unknown }[]
  n?: unknown
  data?: unknown
}

const collections = {
  items: collection<Item>({ indexes: [{ fields: { kind: 1 } }, { fields: { 'of.place': 1 } }] }),
}

const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => expect.fail('not rejected'),
    error => error,
  )

describe('the embedded store', () => {
  const folder = join(createTemporaryFolder(), 'made', 'when missing')
  const open = <C extends Collections>(collections: C, strict = true) =>
    createEmbeddedStore({ folder, collections, clock: testClock(), strict })

  const using = async (strict: boolean, test: (items: ReturnType<typeof docsOf>) => Promise<void>): Promise<void> => {
    const store = open(collections, strict)
    try {
      await test(store.docs('items'))
    } finally {
      await store.close()
    }
  }
  const docsOf = (store: ReturnType<typeof open<typeof collections>>) => store.docs('items')

  it('creates its folder for its owner alone, and leaves one file there when closed', async () => {
    await using(true, async items => {
      expect(statSync(folder).mode & 0o777).to.equal(0o700)
      await items.insert([{ _id: 'first', kind: 'x' }])
      expect(readdirSync(folder)).to.have.members(['countersign.db', 'countersign.db-wal'])
    })
    expect(readdirSync(folder)).to.deep.equal(['countersign.db'])
  })

  it('names the file that it cannot open', () => {
    const other = createTemporaryFolder()
    writeFileSync(
      join(other, 'countersign.db'),
      'not a database, though long enough to be taken for the header of one'.repeat(9),
    )
    const opening = () => createEmbeddedStore({ folder: other, collections, clock: testClock() })
    expect(opening).to.throw(StartProblem, `DATA_DIR: ${other} cannot be used: its countersign.db is no database`)
  })

  it('refuses a list at an indexed path, which MongoDB would index by its members', () =>
    using(true, async items => {
      const lists: Item[] = [
        { _id: 'a', kind: ['x'] },
        { _id: 'b', of: { place: ['x'] } },
        { _id: 'c', of: [{ place: 'x' }] },
      ]
      for (const doc of lists) expect(await failure(items.insert([doc]))).to.be.instanceOf(TypeError)
      await items.insert([{ _id: 'd', kind: 'x', of: { place: 'y' }, data: ['lists', ['elsewhere']] }])
      expect(await failure(items.modify({ _id: 'd' }, { $push: { kind: { $each: ['y'] } } }))).to.be.instanceOf(
        TypeError,
      )
      expect(await failure(items.modify({ _id: 'd' }, { $set: { 'of.place': [] } }))).to.be.instanceOf(TypeError)
      expect((await items.get(['d'])).get('d')).to.include({ kind: 'x' })
    }))

  it('refuses, when strict, values that JSON would change', () =>
    using(true, async items => {
      const foreign = [new Date(), Number.NaN, Number.POSITIVE_INFINITY, new Map(), 5n, () => 1, Symbol('x'), /x/]
      for (const data of foreign) {
        expect(await failure(items.insert([{ _id: 'f', data }])), String(data)).to.be.instanceOf(TypeError)
        expect(await failure(items.insert([{ _id: 'f', data: [{ deep: data }] }])), String(data)).to.be.instanceOf(
          TypeError,
        )
      }
      expect(await failure(items.insert([{ _id: 5 as unknown as string }]))).to.be.instanceOf(TypeError)
    }))

  it('finds numbers alone with a range that ends at infinity', () =>
    using(true, async items => {
      await items.insert([1, 9, 'a', 'z', null, true].map((kind, i) => ({ _id: `range${i}`, kind })))
      const endless = { $gte: Number.NEGATIVE_INFINITY, $lt: Number.POSITIVE_INFINITY }
      expect(await items.count({ kind: endless })).to.equal(2)
      expect(await items.count({ kind: { $gt: Number.POSITIVE_INFINITY } })).to.equal(0)
    }))

  it('refuses operators that are not in the port', () =>
    using(false, async items => {
      await items.insert([{ _id: 'u', kind: 'text', n: 1, data: { a: 1 } }])
      const filters = [
        { kind: { $regex: 'x' } },
        { kind: { $ne: 'x' } },
        { kind: { a: 1 } },
        { kind: ['x'] },
        { kind: 'x', n: { $size: 1 } },
      ]
      for (const filter of filters as unknown as Filter<Item>[])
        expect(await failure(items.count(filter)), JSON.stringify(filter)).to.be.instanceOf(TypeError)
      const updates = [
        { $inc: { kind: 1 } },
        { $push: { n: { $each: [1] } } },
        { $push: { data: 1 } },
        { $pull: { list: 1 } },
        { $setOnInsert: { n: 2 } },
        { $min: { n: 0 } },
        { $addToSet: { data: 1 } },
        { $set: { 'n.deep': 1 } },
        { $set: { data: 1, 'data.a': 2 } },
        { $set: { n: 1 }, $inc: { n: 1 } },
        { $set: { _id: 'other' } },
        { $rename: { n: 'm' } },
        { $push: { data: { $each: [], $position: 1 } } },
        [{ $match: { n: 1 } }],
        [{ $set: { _id: 'other' } }],
      ]
      for (const update of updates)
        expect(await failure(items.modify({ _id: 'u' }, update as object)), JSON.stringify(update)).to.be.instanceOf(
          TypeError,
        )
      expect((await items.get(['u'])).get('u')).to.deep.equal({ _id: 'u', kind: 'text', n: 1, data: { a: 1 } })
    }))

  it('refuses an id that is no text, which would make libsql end the process, and takes any limit', () =>
    using(true, async items => {
      const strange = true as unknown as string
      expect((await items.get([strange])).size).to.equal(0)
      expect(await items.count({ _id: strange })).to.equal(0)
      const revised = items as unknown as { change(changes: unknown[]): Promise<unknown> }
      expect(await failure(revised.change([{ _id: strange, rev: 1, update: {} }]))).to.be.instanceOf(TypeError)
      expect(await items.find({ kind: 'none' }, { sort: {}, limit: Number.POSITIVE_INFINITY })).to.deep.equal([])
      expect(await items.remove({ kind: 'none' }, Number.POSITIVE_INFINITY)).to.equal(0)
      expect(await items.find({ kind: 'text' }, { sort: {}, limit: -1 })).to.deep.equal([])
    }))

  it('has nothing in its files of what was removed or overwritten, once it is told to forget it', async () => {
    const filesWith = (text: string): string[] =>
      readdirSync(folder).filter(name => readFileSync(join(folder, name), 'latin1').includes(text))
    const docs = (kind: string) =>
      Array.from({ length: 300 }, (_, nth) => ({ _id: `${kind}${nth}`, kind, data: `${kind} `.repeat(nth * 20) }))
    // Of an earlier run, so that they are on pages of the file, also on those that only large documents have.
    await using(true, items => items.insert([...docs('Augusta'), ...docs('Byron')]).then(() => {}))
    const store = open(collections)
    const items = docsOf(store)
    await items.insert(docs('Lovelace'))
    for (const name of ['Augusta', 'Byron', 'Lovelace']) expect(filesWith(name), name).to.not.deep.equal([])
    await items.remove({ kind: 'Augusta' }, 1_000)
    await items.remove({ kind: 'Lovelace' }, 1_000)
    const renamed = docs('Byron').map(({ _id }) => _id)
    await items.update([{ ids: renamed, update: { $set: { kind: 'poet', data: null } } }])
    await items.remove({ _id: { $in: renamed } }, 1_000)
    await store.forgetRemoved()
    for (const name of ['Augusta', 'Byron', 'Lovelace']) expect(filesWith(name), name).to.deep.equal([])
    await store.close()
  })

  it('names no values in its errors, which are logged', () =>
    using(true, async items => {
      await items.insert([{ _id: 'secret id', data: { 'secret key': 'secret text' }, n: 'secret text' }])
      const errors = await Promise.all([
        failure(items.count({ n: 'secret' })),
        failure(items.modify({ _id: 'secret id' }, { $inc: { 'data.secret key': 1 } })),
        failure(items.modify({ _id: 'secret id' }, { $inc: { n: 1 } })),
        failure(items.modify({ _id: 'secret id', n: 'secret' }, { $set: { n: 1 } }, { upsert: true })),
      ])
      expect(errors[0]).to.be.instanceOf(Unindexed)
      for (const { message, cause } of errors) expect(`${message} ${cause}`).to.not.include('secret')
    }))

  it('takes any name of a collection and most names of fields, and refuses the others', async () => {
    const odd = {
      'a "quoted" \'name\'; --': collection<Item>({ indexes: [{ fields: { "it's a (field)?": 1 }, unique: true }] }),
    }
    const store = open(odd)
    const docs = store.docs('a "quoted" \'name\'; --')
    await docs.insert([{ _id: 'x', "it's a (field)?": 1 } as Item])
    expect(await docs.insert([{ _id: 'y', "it's a (field)?": 1 } as Item])).to.deep.equal(['duplicate'])
    expect(await docs.count({ "it's a (field)?": 1 } as Filter<Item>)).to.equal(1)
    await store.close()
    for (const path of ['a"b', 'a\\b', 'a..b', '', 'a\nb'])
      expect(() => open({ refused: collection<Item>({ indexes: [{ fields: { [path]: 1 } }] }) }), path).to.throw(
        TypeError,
      )
  })

  it('treats special field names in a filter or an update as plain names', () =>
    using(false, async items => {
      const field = `data.x') OR 1=1 --"`
      expect(
        await items.modify({ _id: 'n', [field]: 5 } as Filter<Item>, { $inc: { n: 1 } }, { upsert: true }),
      ).to.include({ n: 1 })
      expect(await items.count({ [field]: 5 } as Filter<Item>)).to.equal(1)
      await items.modify({ _id: 'n' }, { $set: { 'data.__proto__': { polluted: true } } })
      expect(({} as Record<string, unknown>).polluted).to.equal(undefined)
    }))
})
