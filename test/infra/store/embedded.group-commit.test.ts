import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { Duplicate } from '../../../infra/store/docs.ts'
import { createGroupCommit, MAX_COMMIT_MS } from '../../../infra/store/embedded/group-commit.ts'
import { DATABASE_FILE, openSqlite, type Sqlite } from '../../../infra/store/embedded/sqlite.ts'
import { createEmbeddedStore } from '../../../infra/store/embedded.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

/** How many transactions SQLite's log holds: the frame that ends one names the size of the database. See sqlite.org/fileformat. */
function transactions(folder: string): number {
  const log = readFileSync(join(folder, `${DATABASE_FILE}-wal`))
  const frame = 24 + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frame <= log.length; at += frame)
    if (log.subarray(at + 8, at + 16).equals(salts) && log.readUInt32BE(at + 4) > 0) commits++
  return commits
}

describe('group commit of the embedded store', () => {
  const folder = createTemporaryFolder()
  const store = createEmbeddedStore({ folder, collections: CONTRACT_COLLECTIONS, clock: testClock() })
  const [things, coded] = [store.docs('things'), store.docs('coded')]
  after(() => store.close())
  let names = 0
  const fresh = () => `c${++names}`

  it('puts all writes of one turn into one transaction', async () => {
    const group = fresh()
    await things.insert([{ _id: `${group}-0`, rev: 1, group, n: 0 }])
    const before = transactions(folder)
    const writes = Array.from({ length: 50 }, (_, i) => [
      things.insert([{ _id: `${group}-a${i}`, rev: 1, group }]),
      coded.insert([{ _id: `${group}-b${i}`, code: `${group}${i}` }]),
      things.modify({ _id: `${group}-0` }, { $inc: { n: 1 } }),
    ])
    await Promise.all(writes.flat())
    expect(transactions(folder) - before).to.equal(1)
    expect(await things.count({ group })).to.equal(51)
  })

  it('does not show a write before it is on disk', async () => {
    const _id = fresh()
    const written = things.insert([{ _id, rev: 1, group: _id }])
    expect((await things.get([_id])).size).to.equal(0)
    await written
    expect((await things.get([_id])).size).to.equal(1)
  })

  it('lets a write fail without undoing those before and after it', async () => {
    const group = fresh()
    await coded.insert([
      { _id: `${group}1`, code: `${group}1`, note: 'text' },
      { _id: `${group}2`, code: `${group}2` },
    ])
    const before = transactions(folder)
    const outcomes = await Promise.allSettled([
      coded.insert([{ _id: `${group}3`, code: `${group}3` }]),
      coded.modify({ _id: `${group}2` }, { $set: { code: `${group}1` } }),
      coded.modify({ _id: `${group}1` }, { $inc: { note: 1 } }),
      coded.modify({ _id: `${group}2` }, { $set: { note: 'kept' } }),
      coded.insert([{ _id: `${group}4`, code: `${group}1` }]),
      coded.insert([{ _id: `${group}5`, code: `${group}5` }]),
    ])
    expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal([true, false, false, true, true, true])
    expect(outcomes[1]).to.have.property('reason').that.is.instanceOf(Duplicate)
    expect(outcomes[2]).to.have.property('reason').that.is.instanceOf(TypeError)
    expect(outcomes[4]).to.have.deep.property('value', ['duplicate'])
    expect(transactions(folder) - before).to.equal(1)
    const left = await coded.get([1, 2, 3, 4, 5].map(i => `${group}${i}`))
    expect([...left.keys()]).to.have.members([1, 2, 3, 5].map(i => `${group}${i}`))
    expect(left.get(`${group}2`)).to.deep.equal({ _id: `${group}2`, code: `${group}2`, note: 'kept' })
  })

  it('applies the other changes of a call when one is refused', async () => {
    const group = fresh()
    const ids = [0, 1, 2].map(i => `${group}-${i}`)
    await things.insert(ids.map((_id, i) => ({ _id, rev: 1, group, email: `${i}@example.com` })))
    const emails = ['a@example.com', '0@example.com', 'a@example.com']
    const changes = ids.map((_id, i) => ({ _id, rev: 1, update: { $set: { email: emails[i] ?? null } } }))
    expect(await things.change(changes).catch(error => error)).to.be.instanceOf(Duplicate)
    const stored = await things.get(ids)
    expect(ids.map(_id => stored.get(_id)?.rev)).to.deep.equal([2, 2, 1])
  })
})

describe('a long group commit', () => {
  const folder = createTemporaryFolder()
  let engine: Sqlite
  before(() => {
    engine = openSqlite(folder)
    engine.run('CREATE TABLE t (a INTEGER)')
  })
  after(() => engine.close())
  const stored = () => engine.column('SELECT a FROM t ORDER BY rowid')

  /** Writes, of which each takes a quarter of the time that a commit may take, on a disk that takes `diskMs` for a commit. */
  function startWrites(diskMs = 0, count = 10) {
    let time = 0
    const sqlite: Sqlite = {
      ...engine,
      run(sql, bound) {
        if (sql === 'COMMIT') time += diskMs
        return engine.run(sql, bound)
      },
    }
    const { write, flush } = createGroupCommit(sqlite, { now: () => time })
    const numbers = Array.from({ length: count }, (_, n) => n)
    const answered: number[] = []
    const writes = numbers.map(n =>
      write(() => {
        time += MAX_COMMIT_MS / 4
        engine.run('INSERT INTO t VALUES (?)', [n])
        return n
      }).then(answer => answered.push(answer)),
    )
    return { numbers, answered, flush, finished: Promise.all(writes) }
  }

  beforeEach(() => void engine.run('DELETE FROM t'))

  it('leaves writes to the next ones, in their order, and takes more where the disk is slow, but not without bound', async () => {
    for (const [diskMs, count, commits] of [
      [0, 10, 3],
      [2 * MAX_COMMIT_MS, 10, 2], // four writes, then the six that are left
      [1_000 * MAX_COMMIT_MS, 54, 4], // four writes, then 20 each, then the rest
    ] as const) {
      engine.run('DELETE FROM t')
      const before = transactions(folder)
      const { numbers, answered, finished } = startWrites(diskMs, count)
      await finished
      expect(transactions(folder) - before, `a disk that takes ${diskMs} ms`).to.equal(commits)
      expect(answered).to.deep.equal(numbers)
      expect(stored()).to.deep.equal(numbers)
    }
  })

  it('lets other work of the process run in between, and is finished by a flush', async () => {
    const { answered, finished } = startWrites()
    const seen: number[] = []
    for (let n = 0; n < 3; n += 1) {
      await new Promise(resolve => setImmediate(resolve))
      seen.push(answered.length)
    }
    await finished
    expect(seen).to.deep.equal([4, 8, 10])
    engine.run('DELETE FROM t')
    const other = startWrites()
    other.flush()
    expect(stored()).to.deep.equal(other.numbers)
    await other.finished
  })

  it('ends within a long list of documents too', async () => {
    const ownFolder = createTemporaryFolder()
    let time = 0
    const clock = { ...testClock(), now: () => time++ }
    const store = createEmbeddedStore({ folder: ownFolder, collections: CONTRACT_COLLECTIONS, clock })
    const things = store.docs('things')
    await things.insert([{ _id: '50', rev: 7, group: 'long' }])
    const before = transactions(ownFolder)
    const ids = Array.from({ length: 400 }, (_, n) => String(n))
    const inserted = await things.insert(ids.map(_id => ({ _id, rev: 1, group: 'long' })))
    expect(inserted).to.deep.equal(ids.map(id => (id === '50' ? 'duplicate' : 'inserted')))
    expect(transactions(ownFolder) - before).to.be.within(2, 10)
    const changed = await things.change(ids.map(_id => ({ _id, rev: 1, update: { $set: { n: 1 } } })))
    expect(changed).to.deep.equal(ids.map(id => (id === '50' ? 'lost' : 'won')))
    const update = { ids: [...ids, 'none'], update: { $set: { n: 2 } } }
    expect(await things.update([update])).to.deep.equal([...ids.map(() => 'updated'), 'missing'])
    expect(await things.count({ group: 'long' })).to.equal(400)
    await store.close()
  })
})

describe('group commit, when the engine fails', () => {
  const folder = createTemporaryFolder()
  let engine: Sqlite
  before(() => {
    engine = openSqlite(folder)
    engine.run('CREATE TABLE t (a TEXT)')
  })
  after(() => engine.close())
  const count = () => engine.value('SELECT count(*) FROM t')
  const row = (text: string) => () => engine.run('INSERT INTO t VALUES (?)', [text])

  it('rejects the whole group with Unavailable, undoes it, and works again when the disk has space', async () => {
    const { write } = createGroupCommit(engine, testClock())
    const pages = Number(engine.value('PRAGMA page_count'))
    engine.column(`PRAGMA max_page_count=${pages + 2}`)
    const outcomes = await Promise.allSettled([
      write(row('small')),
      write(row('x'.repeat(100_000))),
      write(row('small')),
    ])
    for (const outcome of outcomes) expect(outcome).to.have.property('reason').that.is.instanceOf(Unavailable)
    expect(count()).to.equal(0)
    engine.column(`PRAGMA max_page_count=${pages + 1_000}`)
    expect(await Promise.all([write(row('small')), write(row('x'.repeat(100_000)))])).to.deep.equal([1, 1])
    expect(count()).to.equal(2)
  })

  it('rejects the whole group when the commit itself fails', async () => {
    const asked: string[] = []
    const failing: Sqlite = {
      ...engine,
      inTransaction: () => true,
      run(sql) {
        asked.push(sql)
        if (sql === 'COMMIT') throw new Unavailable('no')
        return 1
      },
    }
    const { write } = createGroupCommit(failing, testClock())
    const outcomes = await Promise.allSettled([write(() => 1), write(() => 2)])
    for (const outcome of outcomes) expect(outcome).to.have.property('reason').that.is.instanceOf(Unavailable)
    expect(asked).to.deep.equal(['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'])
  })
})
