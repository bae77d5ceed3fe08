// Runs a suite on every store engine this run can use, each time on a store of its own.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { systemClock } from '../../infra/clock.ts'
import { embeddedStore } from '../../infra/store/embedded.ts'
import { mongoStore } from '../../infra/store/mongo.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { MONGODB_URL, onRealEngines } from './engines.ts'

/** An empty store; closed and wiped when the test is over. */
export type FreshStore = () => Promise<CountersignStore>

export function eachStore(title: string, suite: (fresh: FreshStore) => void): void {
  describe(`${title}, embedded`, () => suite(freshly(openEmbedded)))
  onRealEngines(`${title}, on MongoDB`, { MONGODB_URL }, () => suite(freshly(openMongo)))
}

interface Opened {
  store: CountersignStore
  wipe(): Promise<void>
}

function freshly(open: () => Promise<Opened>): FreshStore {
  const opened: Opened[] = []
  afterEach(async () => {
    for (const { store, wipe } of opened.splice(0)) {
      await store.close()
      await wipe()
    }
  })
  return async () => {
    const fresh = await open()
    opened.push(fresh)
    return fresh.store
  }
}

async function openEmbedded(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const store = embeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: true })
  return { store, wipe: () => rm(folder, { recursive: true, force: true }) }
}

async function openMongo(): Promise<Opened> {
  const url = String(MONGODB_URL)
  const database = `test_${randomBytes(6).toString('hex')}`
  const store = mongoStore({ url, collections: COLLECTIONS, database, strict: true })
  const wipe = async () => {
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  }
  return { store, wipe }
}
