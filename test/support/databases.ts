// MongoDB databases for tests. In a database of the product, all collections and indexes take MongoDB more than half a second to make, so
// a worker process gives an emptied one to the next test. test/run.ts drops them at the end of the run.
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { MongoClient } from 'mongodb'
import { MONGODB_URL } from './engines.ts'

/** Set by test/run.ts, so that it finds the databases of this run among others. */
const DATABASE_PREFIX = process.env.DATABASE_PREFIX ?? 'test_'

/** Emptied databases. */
const free: string[] = []

/** A database without documents. It may have the collections and indexes of the product already. */
export const takeDatabase = (): string => free.pop() ?? `${DATABASE_PREFIX}${randomBytes(6).toString('hex')}`

/** Removes all documents and keeps collections and indexes. No process may use the database any more. */
export async function returnDatabase(name: string): Promise<void> {
  await withMongo(async client => {
    const collections = await client.db(name).collections()
    await Promise.all(collections.map(collection => collection.deleteMany({})))
  })
  free.push(name)
}

export const dropDatabase = (name: string): Promise<unknown> => withMongo(client => client.db(name).dropDatabase())

export const dropDatabasesOfRun = (prefix: string): Promise<void> =>
  withMongo(async client => {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true })
    for (const { name } of databases) if (name.startsWith(prefix)) await client.db(name).dropDatabase()
  })

async function withMongo<T>(task: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(MONGODB_URL ?? '')
  try {
    return await task(client)
  } finally {
    await client.close()
  }
}
