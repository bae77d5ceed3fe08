import { join } from 'node:path'
import { expect } from 'chai'
import Database from 'libsql'
import type { Doc } from '../../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { collection, type Index } from '../../../infra/store/store.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { type Child, spawnChild } from '../../support/child.ts'
import { testClock } from '../../support/clock.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const FILE = join(import.meta.dirname, 'store.embedded.child.js')

const open = (folder: string) => createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock: testClock() })

describe('the embedded store and other processes', () => {
  const started: Child[] = []
  const writer = (folder: string, round = 0): Child => {
    const process = spawnChild(FILE, { folder, round: String(round) })
    started.push(process)
    return process
  }
  const kill = async (writer: Child): Promise<void> => {
    writer.process.kill('SIGKILL')
    await writer.exited
  }
  afterEach(() => Promise.all(started.splice(0).map(kill)))

  const integrityCheck = (folder: string): unknown => {
    const database = new Database(join(folder, 'countersign.db'))
    const answer = database.prepare('PRAGMA integrity_check').raw().all()
    database.close()
    return answer
  }

  it('keeps every acknowledged write when the process is killed (-9) at any moment', async () => {
    const folder = createTemporaryFolder()
    const inserted: string[] = []
    let counted = 0
    for (let round = 0; round < 5; round++) {
      const writing = writer(folder, round)
      const moment = 5 + Math.floor(Math.random() * 500)
      await writing.waitForLine(() => writing.lines.length >= moment)
      await kill(writing)
      const printed = writing.lines.map(line => line.split(' '))
      const writesOf = (word: string) => printed.filter(([first]) => first === word).map(([, ...rest]) => rest)
      inserted.push(...writesOf('inserted').flat())
      counted = Math.max(counted, ...writesOf('counted').map(([n]) => Number(n)))

      const store = open(folder)
      const found = await store.docs('things').get(inserted)
      expect(inserted.filter(id => !found.has(id))).to.deep.equal([])
      for (const [id = '', rev] of writesOf('changed')) expect(found.get(id)?.rev, id).to.be.at.least(Number(rev))
      expect((await store.docs('counters').get(['all'])).get('all')?.n ?? 0).to.be.at.least(counted)
      await store.close()
      expect(integrityCheck(folder)).to.deep.equal([['ok']])
    }
    expect(inserted.length).to.be.greaterThan(0)
  })

  it('is copied while it writes, whole and with every write that was acknowledged before, and stays locked', async () => {
    const folder = join(createTemporaryFolder(), 'data')
    const writing = writer(folder)
    for (let copy = 1; copy <= 5; copy++) {
      const moment = writing.lines.length + 50 + Math.floor(Math.random() * 500)
      await writing.waitForLine(() => writing.lines.length >= moment)
      writing.process.kill('SIGUSR2')
      await writing.waitForLine(line => line === `copied ${copy}`)
      expect(() => open(folder), 'the lock').to.throw('another process is using it')
      const before = writing.lines.slice(0, writing.lines.indexOf(`copying ${copy}`)).map(line => line.split(' '))
      const inserted = before.filter(([word]) => word === 'inserted').flatMap(([, ...ids]) => ids)
      const store = open(`${folder}.copy${copy}`)
      const found = await store.docs('things').get(inserted)
      expect(inserted.filter(id => !found.has(id))).to.deep.equal([])
      for (const [, id = '', rev] of before.filter(([word]) => word === 'changed'))
        expect(found.get(id)?.rev, id).to.be.at.least(Number(rev))
      await store.close()
      expect(integrityCheck(`${folder}.copy${copy}`)).to.deep.equal([['ok']])
    }
  })

  it('refuses a folder that another process is using, and opens it once that process is gone', async () => {
    const folder = createTemporaryFolder()
    const first = writer(folder)
    await first.waitForLine(line => line.startsWith('inserted'))
    for (let i = 0; i < 3; i++)
      expect(() => open(folder)).to.throw(`DATA_DIR: ${folder} cannot be used: another process is using it`)
    const second = writer(folder, 1)
    expect(await second.exited).to.include({ code: 1 })
    expect(second.stderr()).to.include(`DATA_DIR: ${folder} cannot be used: another process is using it`)

    const before = first.lines.length
    await first.waitForLine(() => first.lines.length > before + 100)
    await kill(first)
    const store = open(folder)
    expect(await store.docs('things').count({ group: 'g' })).to.be.greaterThan(100)
    await store.close()
  })
})

describe('the embedded store, when the declared indexes change', () => {
  interface Part extends Doc {
    a?: unknown
    b?: unknown
  }
  const part = (indexes: Index<Part>[]) => ({ parts: collection<Part>({ indexes }) })
  const reopened = (folder: string, indexes: Index<Part>[]) =>
    createEmbeddedStore({ folder, collections: part(indexes), clock: testClock() })
  const PARTS: Part[] = [
    { _id: 'x', a: 1, b: 'same' },
    { _id: 'y', a: 2, b: 'same' },
  ]
  const withParts = async (indexes: Index<Part>[]): Promise<string> => {
    const folder = createTemporaryFolder()
    const store = reopened(folder, indexes)
    await store.docs('parts').insert(PARTS)
    await store.close()
    return folder
  }
  const column = (folder: string, sql: string): unknown[] => {
    const database = new Database(join(folder, 'countersign.db'))
    const rows = database.prepare(sql).raw().all() as unknown[][]
    database.close()
    return rows.map(([first]) => first)
  }
  const definitions = (folder: string) =>
    column(folder, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
  /** SQLite raises it with every index that is created or dropped. */
  const schemaVersion = (folder: string) => column(folder, 'PRAGMA schema_version')

  it('finds by an index that was added, and enforces it', async () => {
    const folder = await withParts([])
    const store = reopened(folder, [{ fields: { b: 1 } }, { fields: { a: 1 }, unique: true }])
    expect(await store.docs('parts').find({ b: 'same' }, { sort: {}, limit: 9 })).to.deep.equal(PARTS)
    expect(await store.docs('parts').insert([{ _id: 'z', a: 1 }])).to.deep.equal(['duplicate'])
    await store.close()
  })

  it('drops an index that was removed', async () => {
    const folder = await withParts([{ fields: { a: 1 }, unique: true }])
    const store = reopened(folder, [])
    expect(await store.docs('parts').insert([{ _id: 'z', a: 1 }])).to.deep.equal(['inserted'])
    await store.close()
    expect(definitions(folder)).to.deep.equal([])
  })

  it('creates an index again that changed, and leaves one alone that did not', async () => {
    const folder = await withParts([{ fields: { a: 1 }, unique: true }, { fields: { b: 1 } }])
    const before = definitions(folder)
    const version = schemaVersion(folder)
    await reopened(folder, [{ fields: { a: 1 }, unique: true }, { fields: { b: 1 } }]).close()
    expect(schemaVersion(folder)).to.deep.equal(version)
    const partial: Index<Part> = { fields: { a: 1 }, unique: true, partial: { b: 'other' } }
    const store = reopened(folder, [partial, { fields: { b: 1 } }])
    expect(await store.docs('parts').insert([{ _id: 'z', a: 1, b: 'same' }])).to.deep.equal(['inserted'])
    await store.close()
    expect(definitions(folder)).to.have.length(2).and.not.have.members(before)
  })

  it('finds what was written while a field was not indexed', async () => {
    const folder = await withParts([{ fields: { a: 1 } }])
    const without = reopened(folder, [{ fields: { b: 1 } }])
    await without.docs('parts').modify({ _id: 'x' }, { $set: { a: 7 } })
    await without.docs('parts').insert([{ _id: 'z', a: 8 }])
    await without.close()
    const store = reopened(folder, [{ fields: { a: 1 } }])
    expect(await store.docs('parts').count({ a: 1 })).to.equal(0)
    const found = await store.docs('parts').find({ a: { $gt: 2 } }, { sort: { a: 1 }, limit: 9 })
    expect(found.map(doc => doc._id)).to.deep.equal(['x', 'z'])
    await store.close()
  })

  it('adds an index to more documents than are copied in one step', async () => {
    const folder = await withParts([])
    const plain = reopened(folder, [])
    await plain.docs('parts').insert(Array.from({ length: 2_500 }, (_, i) => ({ _id: `n${i}`, a: i, b: 'many' })))
    await plain.docs('parts').remove({ _id: { $in: ['n0', 'n1100', 'n2499'] } }, 9)
    await plain.docs('parts').insert([{ _id: '', b: 'many' }])
    await plain.close()
    const store = reopened(folder, [{ fields: { b: 1 } }])
    expect(await store.docs('parts').count({ b: 'many' })).to.equal(2_498)
    expect((await store.docs('parts').get(['', 'n2498'])).size).to.equal(2)
    await store.close()
  })

  it('names collection and index when duplicates keep one from being unique, and changes nothing', async () => {
    const folder = await withParts([{ fields: { b: 1 } }])
    const before = definitions(folder)
    const unique = () => reopened(folder, [{ fields: { a: 1 } }, { fields: { b: 1 }, unique: true }])
    expect(unique).to.throw(/index parts \{b 1\} cannot be unique: parts holds duplicates/)
    expect(definitions(folder)).to.deep.equal(before)
    const store = reopened(folder, [{ fields: { b: 1 } }])
    expect(await store.docs('parts').count({ b: 'same' })).to.equal(2)
    await store.close()
  })

  it('names the field when documents hold a list where an index is wanted', async () => {
    const folder = await withParts([])
    const store = reopened(folder, [])
    await store.docs('parts').insert([{ _id: 'z', b: [{ c: 1 }] }])
    await store.close()
    expect(() => reopened(folder, [{ fields: { 'b.c': 1 } }])).to.throw(/parts cannot be indexed by b\.c/)
  })
})
