// Runs a suite on every available store engine: always on the embedded one, on MongoDB if MONGODB_URL is set.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { systemClock } from '../../infra/clock.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { MONGODB_URL, onRealEngines } from './engines.ts'

/** Opens an empty store, which is closed and deleted after the test. */
export type FreshStore = () => Promise<CountersignStore>

export function eachStore(title: string, suite: (fresh: FreshStore) => void): void {
  describe(`${title}, embedded`, () => suite(openPerTest(openEmbedded)))
  onRealEngines(`${title}, on MongoDB`, { MONGODB_URL }, () => suite(openPerTest(openMongo)))
}

interface OpenedStore {
  store: CountersignStore
  wipe(): Promise<void>
}

function openPerTest(open: () => Promise<OpenedStore>): FreshStore {
  const opened: OpenedStore[] = []
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

async function openEmbedded(): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const store = createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: true })
  return { store, wipe: () => rm(folder, { recursive: true, force: true }) }
}

async function openMongo(): Promise<OpenedStore> {
  const url = String(MONGODB_URL)
  const database = `test_${randomBytes(6).toString('hex')}`
  const store = createMongoStore({ url, collections: COLLECTIONS, database, strict: true })
  const wipe = async () => {
    const client = new MongoClient(url)
    await client.db(database).dropDatabase()
    await client.close()
  }
  return { store, wipe }
}
