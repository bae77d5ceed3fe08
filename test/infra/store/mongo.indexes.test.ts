import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { type Db, MongoClient } from 'mongodb'
import type { Filter, Sort } from '../../../infra/store/docs.ts'
import { isServedByIndex, orderOf } from '../../../infra/store/index-coverage.ts'
import { ensureIndexes } from '../../../infra/store/mongo/indexes.ts'
import { createMongoStore } from '../../../infra/store/mongo.ts'
import { type Collections, collection } from '../../../infra/store/store.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { failure, type Thing, things } from '../../contract/store/collections.ts'
import { CONTRACT_COLLECTIONS } from '../../contract/store.contract.ts'
import { MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { SERVED_QUERIES } from '../../support/served-queries.ts'

onRealEngines('indexes on MongoDB', { MONGODB_URL }, () => {
  const url = MONGODB_URL ?? ''
  let client: MongoClient
  let db: Db

  beforeEach(() => {
    client = new MongoClient(url)
    db = client.db(`indexes_${randomUUID()}`)
  })
  afterEach(async () => {
    await db.dropDatabase()
    await client.close()
  })

  const withStore = async (collections: Collections, test: (ping: () => Promise<void>) => Promise<void>) => {
    const store = createMongoStore({ url, database: db.databaseName, collections })
    try {
      await test(store.ping)
    } finally {
      await store.close()
    }
  }

  it('can be created repeatedly, and by several processes at once', async () => {
    const making = Array.from({ length: 4 }, () => ensureIndexes(db, CONTRACT_COLLECTIONS))
    await Promise.all(making)
    await ensureIndexes(db, CONTRACT_COLLECTIONS)
    const names = (await db.collection('things').indexes()).map(index => index.name)
    expect(names).to.have.members([
      '_id_',
      'group_1__id_1',
      'group_1_rank_1__id_1',
      'group_1_owner.city_1_rank_-1__id_-1',
      'due_at_1__id_1_where_due_at',
      'group_1_email_1_where_email',
      'group_1_slot_1_where_active',
    ])
  })

  describe('that differ from existing ones', () => {
    const plain = { orders: collection({ indexes: [{ fields: { number: 1 } }] }) }
    const unique = {
      orders: collection({ indexes: [{ fields: { day: 1 } }, { fields: { number: 1 }, unique: true }] }),
    }

    it('are an error that names the collection and the index, until the old one is dropped', async () => {
      await db.collection('orders').createIndex({ number: 1, _id: 1 }, { name: 'number_1__id_1', unique: true })
      await withStore(plain, async ping => {
        const conflict = await failure(ping())
        expect(conflict).to.be.instanceOf(Error).and.not.instanceOf(Unavailable)
        expect(conflict).to.have.property('message').that.includes('index number_1__id_1 of collection orders')
        await db.collection('orders').dropIndex('number_1__id_1')
        await ping()
      })
    })

    it('conflict with an index that has another condition', async () => {
      const where = (state: string) => ({
        orders: collection<{ _id: string; state: string }>({
          indexes: [{ fields: { number: 1 }, partial: { state } }],
        }),
      })
      await ensureIndexes(db, where('open'))
      await withStore(where('paid'), async ping => {
        expect(await failure(ping()))
          .to.have.property('message')
          .that.includes('number_1__id_1_where_state')
      })
    })

    it('name the index when stored documents violate a new unique one', async () => {
      await db.collection('orders').insertMany([{ number: 1 }, { number: 1 }])
      await withStore(unique, async ping => {
        const broken = await failure(ping())
        expect(broken).to.have.property('message').that.includes('unique index number_1 of collection orders')
      })
    })
  })

  it('purge a document after its purge_at, and no other', async () => {
    await ensureIndexes(db, CONTRACT_COLLECTIONS)
    const counters = db.collection<{ _id: string; purge_at?: Date }>('counters')
    await counters.insertMany([
      { _id: 'past', purge_at: new Date(Date.UTC(2020, 0, 1)) },
      { _id: 'future', purge_at: new Date(Date.UTC(2100, 0, 1)) },
      { _id: 'never' },
    ])
    const left = async () => (await counters.find().toArray()).map(doc => doc._id)
    // MongoDB purges once a minute by default.
    await eventually(async () => expect(await left()).to.have.members(['future', 'never']))
  })

  // Compares `isServedByIndex` with MongoDB's planner: no scan of the collection, and no sort in memory.
  describe('serve the queries that isServedByIndex says', () => {
    const after: Filter<Thing>[] = [
      { group: 'x', rank: { $gt: 3 } },
      { group: 'x', rank: 3, _id: { $gt: 'x' } },
    ]
    const served: [Filter<Thing>, Sort<Thing>][] = [
      ...SERVED_QUERIES.flatMap(([collection, filter, sort]): [Filter<Thing>, Sort<Thing>][] =>
        collection === 'things' ? [[filter, sort]] : [],
      ),
      [{ group: { $in: ['x', 'h'] } }, { rank: 1 }],
      [{ due_at: { $exists: true } }, { due_at: -1 }],
      [{ group: 'x', slot: { $gte: 1 }, active: true }, { slot: -1 }],
      [{ $or: after }, { rank: 1 }],
      [{}, { _id: 1 }],
      [{}, { group: 1, rank: 1 }],
    ]
    const spec = CONTRACT_COLLECTIONS.things

    it('by the plan of each query', async () => {
      await ensureIndexes(db, CONTRACT_COLLECTIONS)
      const found = db.collection<Thing>('things')
      await found.insertMany(
        things('x', 200, i => ({ owner: { city: `c${i % 7}` }, due_at: i, email: `${i}`, slot: i, active: true })),
      )
      for (const [filter, sort] of served) {
        const query = `${JSON.stringify(filter)} by ${JSON.stringify(sort)}`
        expect(isServedByIndex(spec, filter, sort), query).to.equal(true)
        const order = new Map(orderOf(spec, filter, sort))
        const { queryPlanner } = await found.find(filter as object, { sort: order, limit: 10 }).explain('queryPlanner')
        const plan = stagesOf(queryPlanner.winningPlan)
        expect(plan, query).to.not.include.members(['COLLSCAN'])
        expect(plan, query).to.not.include.members(['SORT'])
        expect(
          plan.some(stage => stage === 'IXSCAN' || stage === 'IDHACK'),
          query,
        ).to.equal(true)
      }
    })
  })
})

interface Stage {
  stage?: string
  queryPlan?: Stage
  inputStage?: Stage
  inputStages?: Stage[]
}

/** The stages of a plan, for either of MongoDB's execution engines. */
function stagesOf(plan: Stage): string[] {
  const below = [plan.queryPlan, plan.inputStage, ...(plan.inputStages ?? [])]
  return [...(plan.stage ? [plan.stage] : []), ...below.flatMap(stage => (stage ? stagesOf(stage) : []))]
}
