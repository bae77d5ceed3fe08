import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createMongoStore, type MongoStoreOptions } from '../../../infra/store/mongo.ts'
import type { Collections, Store } from '../../../infra/store/store.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { failure, things } from '../../contract/store/collections.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { freePort } from '../../support/backend.ts'
import { ENGINES_DIR, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { spawnMongod } from '../../support/guarded-engines.ts'
import { type MongoBehindProxy, openMongoBehindProxy } from '../../support/mongo.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

onRealEngines('the store when MongoDB fails', { MONGODB_URL }, () => {
  let mongo: MongoBehindProxy
  let opened: { close(): Promise<void> }[]

  beforeEach(async () => {
    mongo = await openMongoBehindProxy()
    opened = []
  })
  afterEach(async () => {
    mongo.proxy.heal()
    for (const store of opened) await store.close()
    await mongo.close()
  })

  const open = <C extends Collections>(collections: C, more: Partial<MongoStoreOptions<C>> = {}): Store<C> => {
    const store = createMongoStore({ url: mongo.url, database: mongo.database, collections, strict: true, ...more })
    opened.push(store)
    return store
  }
  const openReady = async (timeoutMs?: number) => {
    const store = open(CONTRACT_COLLECTIONS, timeoutMs ? { timeoutMs } : {})
    await store.ping()
    return store
  }

  it('opens while the engine is away: calls reject with Unavailable, and work once it is there', async () => {
    mongo.proxy.refuse()
    const store = open(CONTRACT_COLLECTIONS, { timeoutMs: 300 })
    const docs = store.docs('things')
    expect(await failure(store.ping())).to.be.instanceOf(Unavailable)
    expect(await failure(docs.get(['x']))).to.be.instanceOf(Unavailable)
    expect(await failure(docs.insert(things('g', 1)))).to.be.instanceOf(Unavailable)
    mongo.proxy.heal()
    await eventually(() => store.ping())
    expect(await docs.insert(things('g', 1))).to.deep.equal(['inserted'])
    expect(await mongo.db.collection('things').indexes()).to.have.length(7)
  })

  it('closes while the engine is away, and settles what was waiting', async () => {
    mongo.proxy.refuse()
    const store = open(CONTRACT_COLLECTIONS, { timeoutMs: 300 })
    const waiting = failure(store.ping())
    await store.close()
    expect(await waiting).to.be.instanceOf(Unavailable)
    expect(await failure(store.ping())).to.be.instanceOf(Unavailable)
  })

  it('rejects with Unavailable when the engine goes away, and works again when it is back', async () => {
    const store = await openReady(500)
    const docs = store.docs('things')
    await docs.insert(things('g', 3))
    mongo.proxy.refuse()
    expect(await failure(docs.count({ group: 'g' }))).to.be.instanceOf(Unavailable)
    expect(await failure(docs.insert(things('h', 3)))).to.be.instanceOf(Unavailable)
    expect(await failure(store.ping())).to.be.instanceOf(Unavailable)
    mongo.proxy.heal()
    await eventually(() => store.ping())
    expect(await docs.count({ group: 'g' })).to.equal(3)
  })

  it('lets no call hang on a network that swallows packets', async () => {
    const store = await openReady(500)
    const docs = store.docs('things')
    mongo.proxy.stall()
    const calls = [
      docs.get(['x']),
      docs.find({ group: 'g' }, { sort: {}, limit: 1 }),
      docs.count({ group: 'g' }),
      docs.insert(things('g', 2)),
      docs.change([{ _id: 'x', rev: 1, update: {} }]),
      docs.update([{ ids: ['x', 'y'], update: { $inc: { n: 1 } } }]),
      docs.modify({ _id: 'x' }, { $inc: { n: 1 } }),
      docs.remove({ group: 'g' }, 5),
      store.ping(),
    ]
    for (const outcome of await Promise.all(calls.map(failure))) expect(outcome).to.be.instanceOf(Unavailable)
    mongo.proxy.heal()
    await eventually(() => store.ping())
  })

  it('settles the calls under way when every connection is cut', async () => {
    const store = await openReady()
    const docs = store.docs('counters')
    await docs.insert([{ _id: 'c', n: 0 }])
    mongo.proxy.stall()
    const calls = Array.from({ length: 20 }, () => docs.modify({ _id: 'c' }, { $inc: { n: 1 } }))
    mongo.proxy.heal()
    mongo.proxy.cut()
    const outcomes = await Promise.allSettled(calls)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(Unavailable)
    const counted = outcomes.filter(outcome => outcome.status === 'fulfilled').length
    const n = (await eventually(() => docs.get(['c']))).get('c')?.n
    expect(n).to.be.within(counted, 20)
  })

  describe('when an answer is lost on the way back', () => {
    it('tells its own insert from a duplicate', async () => {
      const docs = (await openReady()).docs('things')
      mongo.proxy.loseReplyTo('lost-00000')
      expect(await docs.insert(things('lost', 2))).to.deep.equal(['inserted', 'inserted'])
    })

    it('tells its own change from another process’s', async () => {
      const docs = (await openReady()).docs('things')
      await docs.insert(things('lost', 3, () => ({ n: 0 })))
      mongo.proxy.loseReplyTo('lost-00001')
      const changes = things('lost', 3).map(({ _id }) => ({ _id, rev: 1, update: { $inc: { n: 1 } } }))
      expect(await docs.change(changes)).to.deep.equal(['won', 'won', 'won'])
      expect((await docs.get(['lost-00001'])).get('lost-00001')).to.include({ rev: 2, n: 1 })
    })

    it('updates a document once', async () => {
      const docs = (await openReady()).docs('counters')
      await docs.insert([{ _id: 'lost-update', n: 0 }])
      mongo.proxy.loseReplyTo('lost-update')
      expect(await docs.update([{ ids: ['lost-update'], update: { $inc: { n: 1 } } }])).to.deep.equal(['updated'])
      expect((await docs.get(['lost-update'])).get('lost-update')?.n).to.equal(1)
    })

    it('modifies a counter once', async () => {
      const docs = (await openReady()).docs('counters')
      mongo.proxy.loseReplyTo('lost-counter')
      const after = await docs.modify({ _id: 'lost-counter' }, { $inc: { n: 1 } }, { upsert: true })
      expect(after).to.deep.equal({ _id: 'lost-counter', n: 1 })
      expect((await docs.get(['lost-counter'])).get('lost-counter')?.n).to.equal(1)
    })
  })

  describe('when the answer to the repeated call is lost as well', () => {
    it('rejects every kind of write with Unavailable, not as a refusal', async () => {
      const store = await openReady()
      const docs = store.docs('things')
      await docs.insert(things('lost', 3))
      const writes = {
        insert: () => docs.insert(things('gone', 2)),
        change: () => docs.change([{ _id: 'lost-00001', rev: 1, update: { $set: { data: 'gone-' } } }]),
        update: () => docs.update([{ ids: ['lost-00001'], update: { $set: { data: 'gone-' } } }]),
        'shared update': () =>
          docs.update([{ ids: ['lost-00001', 'lost-00002'], update: { $set: { data: 'gone-' } } }]),
        modify: () => docs.modify({ _id: 'lost-00001' }, { $set: { data: 'gone-' } }),
      }
      for (const [kind, write] of Object.entries(writes)) {
        mongo.proxy.loseReplyTo('gone-', 2)
        expect(await failure(write()), kind).to.be.instanceOf(Unavailable)
      }
    })
  })

  it('applies every change that won, during an election', async () => {
    const docs = open(CONTRACT_COLLECTIONS, { url: MONGODB_URL ?? '' }).docs('things')
    await docs.insert(things('g', 20, () => ({ n: 0 })))
    let stepped = false
    const stepping = mongo.db
      .admin()
      .command({ replSetStepDown: 3, secondaryCatchUpPeriodSecs: 1, force: true })
      .finally(() => {
        stepped = true
      })
    const count = { won: 0, unknown: 0, wonAfterwards: 0 }
    while (count.wonAfterwards < 20) {
      const afterwards = stepped
      const seen = await docs.find({ group: 'g' }, { sort: {}, limit: 20 }).catch(() => [])
      const changes = seen.map(({ _id, rev }) => ({ _id, rev, update: { $inc: { n: 1 } } }))
      const answers = await docs.change(changes).catch(error => {
        expect(error).to.be.instanceOf(Unavailable)
        return undefined
      })
      const won = answers?.filter(answer => answer === 'won').length ?? 0
      count.won += won
      count.unknown += answers ? 0 : changes.length
      count.wonAfterwards += afterwards ? won : 0
    }
    await stepping
    const after = await docs.find({ group: 'g' }, { sort: {}, limit: 20 })
    const effects = after.reduce((sum, doc) => sum + (doc.n ?? 0), 0)
    expect(effects).to.be.within(count.won, count.won + count.unknown)
  })

  onRealEngines('and is killed', { ENGINES_DIR }, () => {
    it('rejects with Unavailable until it is back, and keeps every acknowledged document', async () => {
      const store = open(CONTRACT_COLLECTIONS, { url: MONGODB_URL ?? '', timeoutMs: 2_000 })
      const docs = store.docs('things')
      await store.ping()
      expect(await docs.insert(things('kept', 100))).to.have.length(100)
      await engines('kill', 'mongodb')
      try {
        expect(await failure(docs.insert(things('late', 1)))).to.be.instanceOf(Unavailable)
        expect(await failure(store.ping())).to.be.instanceOf(Unavailable)
      } finally {
        await engines('resume', 'mongodb')
      }
      await eventually(() => store.ping())
      expect(await docs.count({ group: 'kept' })).to.equal(100)
    })
  })
})

const engines = (...command: string[]) => promisify(execFile)('infra/engines.sh', command)

onRealEngines('the store on a MongoDB that is in no replica set', { MONGODB_URL, ENGINES_DIR }, () => {
  it('reads with certainty too', async () => {
    const port = await freePort()
    const mongod = spawnMongod(port, createTemporaryFolder())
    const store = createMongoStore({ url: `mongodb://127.0.0.1:${port}`, collections: CONTRACT_COLLECTIONS })
    try {
      const docs = store.docs('things')
      const [thing] = things('g', 1)
      await eventually(() => store.ping())
      expect(await docs.insert(things('g', 1))).to.deep.equal(['inserted'])
      const [_id = ''] = (await docs.find({}, { sort: { _id: 1 }, limit: 1, certain: true })).map(doc => doc._id)
      expect(_id).to.equal(thing?._id)
      expect([...(await docs.get([_id, 'none'], { certain: true })).keys()]).to.deep.equal([_id])
    } finally {
      await store.close()
      mongod.process.kill('SIGKILL')
      await mongod.exited
    }
  })
})
