// Runs a suite on a store: on every available engine, or on the embedded one alone. A suite opens few stores and gives them to its tests
// one after the other, empty each time: to create all tables and indexes takes longer than most tests.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../infra/clock.ts'
import type { Doc, Docs } from '../../infra/store/docs.ts'
import { createEmbeddedStore } from '../../infra/store/embedded.ts'
import { createMongoStore } from '../../infra/store/mongo.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { COLLECTIONS, type CountersignStore } from '../../services/domain/collections.ts'
import { returnDatabase, takeDatabase } from './databases.ts'
import { copyEmptyDatabase } from './empty-database.ts'
import { MONGODB_URL, onRealEngines } from './engines.ts'

/** An empty store, which is closed and emptied after the test. */
type FreshStore = () => Promise<CountersignStore>

/** For what the engine decides: races, conditional writes, queries and indexes of the subject's own. On MongoDB if MONGODB_URL is set. */
export function eachStore(title: string, suite: (fresh: FreshStore) => void): void {
  describe(`${title}, embedded`, () => suite(lendPerTest(openEmbedded)))
  onRealEngines(`${title}, on MongoDB`, { MONGODB_URL }, () => suite(lendPerTest(openMongo)))
}

/** For everything else. test/contract shows that the engines agree, and test/flow runs the whole on both. */
export const onEmbeddedStore = (title: string, suite: (fresh: FreshStore) => void): void =>
  void describe(title, () => suite(lendPerTest(openEmbedded)))

interface OpenedStore {
  store: CountersignStore
  /** Closes the store; what it keeps is deleted or emptied. */
  close(): Promise<void>
}

function lendPerTest(open: () => Promise<OpenedStore>): FreshStore {
  const free: OpenedStore[] = []
  const lent: { loan: Loan; opened: OpenedStore }[] = []
  afterEach(async () => {
    for (const { loan, opened } of lent.splice(0)) {
      await loan.store.close()
      await loan.empty()
      free.push(opened)
    }
  })
  after(async () => {
    for (const opened of free.splice(0)) await opened.close()
  })
  return async () => {
    const opened = free.pop() ?? (await open())
    const loan = lend(opened.store)
    lent.push({ loan, opened })
    return loan.store
  }
}

interface Loan {
  /** Closing it ends the loan only: later calls are refused, as those of a closed store are. */
  store: CountersignStore
  /** Removes all documents from the collections that were used. */
  empty(): Promise<void>
}

const MOST_DOCUMENTS = 1_000_000

function lend(store: CountersignStore): Loan {
  const used = new Set<keyof typeof COLLECTIONS>()
  const running = new Set<Promise<unknown>>()
  let ended = false

  async function run<R>(call: () => Promise<R>): Promise<R> {
    if (ended) throw new Unavailable('The store is closed')
    const result = call()
    running.add(result)
    return result.finally(() => running.delete(result))
  }

  function lendDocs<T extends Doc>(docs: Docs<T>): Docs<T> {
    return {
      get: (ids, options) => run(() => docs.get(ids, options)),
      find: (filter, page) => run(() => docs.find(filter, page)),
      count: (filter, max) => run(() => docs.count(filter, max)),
      insert: inserted => run(() => docs.insert(inserted)),
      change: changes => run(() => docs.change(changes)),
      update: updates => run(() => docs.update(updates)),
      modify: (filter, update, options) => run(() => docs.modify(filter, update, options)),
      remove: (filter, limit) => run(() => docs.remove(filter, limit)),
    }
  }

  return {
    store: {
      ...store,
      docs(name) {
        const docs = lendDocs(store.docs(name))
        used.add(name)
        return docs
      },
      ping: () => run(store.ping),
      time: () => run(store.time),
      async close() {
        ended = true
        await Promise.allSettled(running)
      },
    },
    async empty() {
      const everything = { _id: { $gte: '' } }
      await Promise.all([...used].map(name => (store.docs(name) as Docs<Doc>).remove(everything, MOST_DOCUMENTS)))
    },
  }
}

async function openEmbedded(): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  await copyEmptyDatabase(folder)
  const store = createEmbeddedStore({ folder, collections: COLLECTIONS, clock: systemClock, strict: true })
  return {
    store,
    async close() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function openMongo(): Promise<OpenedStore> {
  const database = await takeDatabase()
  const store = createMongoStore({ url: String(MONGODB_URL), collections: COLLECTIONS, database, strict: true })
  return {
    store,
    async close() {
      await store.close()
      returnDatabase(database)
    },
  }
}
