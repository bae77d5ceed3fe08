import { expect } from 'chai'
import fc from 'fast-check'
import { deepFreeze } from '../../../infra/deep-freeze.ts'
import { type Doc, type Docs, Duplicate, type RevisedDoc } from '../../../infra/store/docs.ts'
import { asStored, createEncode, decode } from '../../../infra/store/embedded/json.ts'
import { openSqlite, type Sqlite } from '../../../infra/store/embedded/sqlite.ts'
import { applyOperators } from '../../../infra/store/embedded/update-operators.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { collection } from '../../../infra/store/store.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { testClock } from '../../support/clock.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

interface Item extends RevisedDoc {
  name?: string
  n?: number | undefined
  data?: { a?: number | undefined; list?: unknown[] }
}

const collections = {
  items: collection<Item>({ indexes: [{ fields: { name: 1 }, unique: true }], purged: true, keepLatest: true }),
}

const MINUTE = 60_000

describe('the latest documents of the embedded store', () => {
  const clock = testClock()
  let failsToCommit = false
  /** What SQLite is asked for. */
  const read: string[] = []
  const open = (folder: string): Sqlite => {
    const engine = openSqlite(folder)
    return {
      ...engine,
      value(sql, params) {
        read.push(sql)
        return engine.value(sql, params)
      },
      column(sql, params) {
        read.push(sql)
        return engine.column(sql, params)
      },
      run(sql, params) {
        if (failsToCommit && sql === 'COMMIT') throw new Unavailable('the disk is full')
        return engine.run(sql, params)
      },
    }
  }
  const store = createEmbeddedStore({ folder: createTemporaryFolder(), collections, clock, open })
  const items: Docs<Item> = store.docs('items')
  after(() => store.close())
  let names = 0
  const inserted = async (more: Partial<Item> = {}): Promise<string> => {
    const _id = `i${++names}`
    await items.insert([{ _id, rev: 1, name: _id, ...more }])
    return _id
  }
  const get = async (_id: string) => (await items.get([_id])).get(_id)

  it('are not read again, neither by a reader nor for a change', async () => {
    const _id = await inserted({ data: { a: 1 } })
    read.length = 0
    expect(await get(_id)).to.deep.equal({ _id, rev: 1, name: _id, data: { a: 1 } })
    expect(await items.change([{ _id, rev: 1, update: { $set: { 'data.a': 2 } } }])).to.deep.equal(['won'])
    expect(await items.update([{ ids: [_id], update: { $inc: { n: 1 } } }])).to.deep.equal(['updated'])
    expect(await get(_id)).to.deep.equal({ _id, rev: 2, name: _id, n: 1, data: { a: 2 } })
    expect(read).to.deep.equal([])
    expect([...(await items.get([_id, 'none'])).keys()]).to.deep.equal([_id])
    expect(read).to.have.length(1)
  })

  it('keep the document that a reader has as it was, and cannot be changed by it', async () => {
    const _id = await inserted({ data: { a: 1, list: [1] } })
    const before = await get(_id)
    await items.change([{ _id, rev: 1, update: { $push: { 'data.list': { $each: [2] } } } }])
    expect(before).to.deep.equal({ _id, rev: 1, name: _id, data: { a: 1, list: [1] } })
    for (const doc of [before, await get(_id), ...(await items.find({ _id }, { sort: {}, limit: 1 }))])
      expect(() => doc?.data?.list?.push(3)).to.throw(TypeError)
  })

  it('cannot be changed by the code that inserts them, not even before they are on disk', async () => {
    const doc = { _id: 'kept', rev: 1, name: 'kept', data: { list: [1] } }
    const insertion = items.insert([doc])
    expect(() => doc.data.list.push(2)).to.throw(TypeError)
    await insertion
    expect(await get('kept')).to.deep.equal({ _id: 'kept', rev: 1, name: 'kept', data: { list: [1] } })
  })

  it('are those of before when a commit fails', async () => {
    const [_id, gone] = [await inserted(), 'never was']
    failsToCommit = true
    const outcomes = await Promise.allSettled([
      items.change([{ _id, rev: 1, update: { $set: { n: 1 } } }]),
      items.insert([{ _id: gone, rev: 1, name: gone }]),
    ])
    failsToCommit = false
    for (const outcome of outcomes) expect(outcome).to.have.property('reason').that.is.instanceOf(Unavailable)
    expect(await get(_id)).to.deep.equal({ _id, rev: 1, name: _id })
    expect(await get(gone)).to.equal(undefined)
    expect(await items.change([{ _id, rev: 1, update: { $set: { n: 2 } } }])).to.deep.equal(['won'])
  })

  it('are those of before when a unique index refuses', async () => {
    const [one, other] = [await inserted(), await inserted()]
    const change = items.change([{ _id: other, rev: 1, update: { $set: { name: one } } }])
    expect(await change.catch(error => error)).to.be.instanceOf(Duplicate)
    expect(await get(other)).to.deep.equal({ _id: other, rev: 1, name: other })
    expect(await items.insert([{ _id: other, rev: 7 }])).to.deep.equal(['duplicate'])
    expect(await get(other)).to.include({ rev: 1 })
  })

  it('are gone when they are removed or purged', async () => {
    const removed = await inserted()
    await items.remove({ _id: removed }, 1)
    expect(await get(removed)).to.equal(undefined)
    expect(await items.change([{ _id: removed, rev: 1, update: {} }])).to.deep.equal(['lost'])
    const purged = await inserted({ purge_at: new Date(clock.now() + MINUTE) })
    expect(await get(purged))
      .to.have.property('purge_at')
      .that.is.instanceOf(Date)
    await clock.advance(MINUTE)
    expect(await get(purged)).to.equal(undefined)
  })
})

describe('a document as it is stored', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, -0, Number.NaN, Number.POSITIVE_INFINITY, new Date(0), () => 1, new Map()),
  )
  const holder = fc.oneof(
    value,
    fc.array(value),
    fc.dictionary(fc.string(), value),
    fc.dictionary(fc.string(), fc.array(fc.dictionary(fc.string(), value))),
  )

  it('is what parsing its text answers', () => {
    const encode = createEncode(false)
    const property = fc.property(holder, fc.option(fc.date({ noInvalidDate: true })), (data, date) => {
      const doc = { _id: 'x', data, ...(date && { purge_at: date }), last: 1 } as Doc
      expect(asStored(doc)).to.deep.equal(decode(encode(doc)))
    })
    fc.assert(property, { numRuns: propertyRuns(300) })
  })

  it('shares what JSON leaves as it is', () => {
    const doc = { _id: 'x', kept: { a: [1, { b: 'c' }] }, changed: { gone: undefined, kept: { d: 1 } } }
    const stored = asStored(doc as Doc) as typeof doc
    expect(stored.kept).to.equal(doc.kept)
    expect(stored.changed).to.deep.equal({ kept: { d: 1 } })
    expect(stored.changed.kept).to.equal(doc.changed.kept)
  })
})

describe('update operators', () => {
  it('take members out, and leave the others, also under unusual names', () => {
    const doc = deepFreeze({ _id: 'x', a: 1, b: { c: 1, d: 2 }, ...JSON.parse('{"__proto__": 3, "constructor": 4}') })
    const after = applyOperators(doc, { $unset: { a: true, 'b.c': true, gone: true } })
    expect(JSON.stringify(after)).to.equal('{"_id":"x","b":{"d":2},"__proto__":3,"constructor":4}')
  })
})
