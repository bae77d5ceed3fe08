// When a copy counts as made, and copies that do not succeed. Copies under load: test/faults/processes/store.embedded.test.ts.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import { createHotCopy } from '../../../infra/store/embedded/hot-copy.ts'
import { createEmbeddedStore, type EmbeddedStore } from '../../../infra/store/embedded.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { testClock } from '../../support/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

describe('a copy of the embedded store', () => {
  /** Copies a folder with both files. Answers what was made safe on the disk, in order, and what had its name by then. */
  async function copyWith(failsAt: string | null): Promise<{ synced: string[]; failure: unknown; left: string[] }> {
    const parent = createTemporaryFolder()
    const [folder, backups] = [join(parent, 'data'), join(parent, 'data', 'backups')]
    mkdirSync(backups, { recursive: true })
    for (const file of ['countersign.db', 'countersign.db-wal']) writeFileSync(join(folder, file), 'pages')
    const synced: string[] = []
    const sync = async (path: string): Promise<void> => {
      const name = relative(parent, path)
      if (name === failsAt) throw new Error('I/O error')
      synced.push(`${name}${existsSync(join(backups, 'one')) ? ', named' : ''}`)
    }
    const disk = { freeBytes: async () => Number.MAX_SAFE_INTEGER, sync }
    const { copyTo } = createHotCopy({ column: () => [] }, folder, disk)
    const failure = await copyTo(join(backups, 'one')).then(
      () => null,
      (error: Error) => error.message,
    )
    return { synced, failure, left: readdirSync(backups) }
  }

  it('gets its name when its files are on the disk, and is made when its name is', async () => {
    const { synced, failure, left } = await copyWith(null)
    expect({ failure, left }).to.deep.equal({ failure: null, left: ['one'] })
    expect(synced.slice(0, 2)).to.have.members([
      'data/backups/one.partial/countersign.db',
      'data/backups/one.partial/countersign.db-wal',
    ])
    expect(synced.slice(2)).to.deep.equal(['data/backups/one.partial', 'data/backups, named', 'data, named'])
  })

  it('is not torn by an erasure: the log is emptied when it ends', async () => {
    const parent = createTemporaryFolder()
    const folder = join(parent, 'data')
    mkdirSync(folder)
    writeFileSync(join(folder, 'countersign.db'), 'pages')
    const pragmas: string[] = []
    const column = (sql: string): unknown[] => {
      pragmas.push(sql.replace('PRAGMA ', ''))
      if (pragmas.length === 2) queueMicrotask(emptyLog)
      return []
    }
    const disk = { freeBytes: async () => Number.MAX_SAFE_INTEGER, sync: async () => {} }
    const { copyTo, emptyLog } = createHotCopy({ column }, folder, disk)
    await copyTo(join(parent, 'copy'))
    const emptied = 'wal_checkpoint(TRUNCATE)'
    expect(pragmas).to.deep.equal(['wal_autocheckpoint=0', emptied, 'wal_autocheckpoint=1000', emptied])
    emptyLog()
    expect(pragmas.at(4)).to.equal(emptied)
  })

  it('leaves nothing when the disk does not take it', async () => {
    for (const failsAt of ['data/backups/one.partial/countersign.db-wal', 'data/backups/one.partial', 'data/backups']) {
      const { failure, left } = await copyWith(failsAt)
      expect({ failure, left }, failsAt).to.deep.equal({ failure: 'I/O error', left: [] })
    }
  })
})

describe('a copy of the embedded store that does not succeed', () => {
  const path = process.env.PATH
  let parent: string
  let store: EmbeddedStore<typeof CONTRACT_COLLECTIONS>
  const open = () =>
    createEmbeddedStore({ folder: join(parent, 'data'), collections: CONTRACT_COLLECTIONS, clock: testClock() })
  beforeEach(() => {
    parent = createTemporaryFolder()
    store = open()
  })
  afterEach(async () => {
    process.env.PATH = path
    await store.close()
  })

  /** Puts a program in the place of `cp`, which begins the file that it is to make. */
  function replaceCp(ending: string): void {
    const programs = createTemporaryFolder()
    const cp = join(programs, 'cp')
    writeFileSync(cp, `#!/bin/sh\necho $$ > "$4"\n${ending}\n`)
    chmodSync(cp, 0o700)
    process.env.PATH = `${programs}:${path}`
  }
  const failureOf = (copy: Promise<void>): Promise<unknown> =>
    copy.then(
      () => 'copied',
      (error: unknown) => error,
    )

  it('has no name until it is whole, and is ended and removed when the store closes', async () => {
    replaceCp('exec sleep 600')
    const copy = join(parent, 'copy')
    const failure = failureOf(store.copyTo(copy))
    const next = failureOf(store.copyTo(join(parent, 'next')))
    const pid = await eventually(() => {
      const begun = readFileSync(join(`${copy}.partial`, 'countersign.db'), 'utf8')
      expect(begun).to.match(/^\d+\n$/)
      return Number(begun)
    })
    expect(existsSync(copy)).to.equal(false)
    await store.close()
    expect(() => process.kill(pid, 0), 'the copying program').to.throw('ESRCH')
    expect(readdirSync(parent)).to.deep.equal(['data'])
    for (const refused of [failure, next, failureOf(store.copyTo(join(parent, 'late')))])
      expect(await refused)
        .to.be.instanceOf(Unavailable)
        .with.property('message', 'The store is closed')
    expect(readdirSync(parent)).to.deep.equal(['data'])
    store = open()
  })

  it('leaves nothing when the copying fails, and the next one is made', async () => {
    replaceCp('echo "No space left on device" >&2; exit 1')
    const copy = join(parent, 'copy')
    expect(await failureOf(store.copyTo(copy)))
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.includes('No space left on device')
    expect(readdirSync(parent)).to.deep.equal(['data'])
    process.env.PATH = path
    await store.copyTo(copy)
    expect(readdirSync(parent)).to.have.members(['data', basename(copy)])
  })

  it('is not begun where it and 64 MiB more have no room', async () => {
    const folder = join(parent, 'files')
    const copy = join(parent, 'copy')
    const size = 3 * 1024 * 1024
    let free = size + 64 * 1024 * 1024 - 1
    const statements: string[] = []
    const column = (sql: string): unknown[] => {
      statements.push(sql)
      return []
    }
    const disk = { freeBytes: async () => free, sync: async () => {} }
    const { copyTo } = createHotCopy({ column }, folder, disk)
    await store.copyTo(folder)
    writeFileSync(join(folder, 'countersign.db'), Buffer.alloc(size - 5))
    writeFileSync(join(folder, 'countersign.db-wal'), 'pages')
    expect(await failureOf(copyTo(copy)))
      .to.be.instanceOf(Error)
      .with.property('message', 'Not enough space for a copy: it needs 67 MiB, and 66 MiB are free')
    expect(readdirSync(parent)).to.have.members(['data', 'files'])
    expect(statements).to.deep.equal([])
    free += 1
    await copyTo(copy)
    expect(readdirSync(copy)).to.have.members(['countersign.db', 'countersign.db-wal'])
  })
})
