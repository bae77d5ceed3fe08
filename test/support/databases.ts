// MongoDB databases for tests. In a database of the product, all collections and indexes take MongoDB more than half a second to make, so
// a worker process gives a used one, emptied, to a later test. test/run.ts drops them at the end of the run.
import { randomBytes } from 'node:crypto'
import process from 'node:process'
import { MongoClient } from 'mongodb'
import { MONGODB_URL } from './engines.ts'

/** Set by test/run.ts, so that it finds the databases of this run among others. */
const DATABASE_PREFIX = process.env.DATABASE_PREFIX ?? 'test_'

/** Databases that no process uses any more, the one that was returned first in front. */
const used: string[] = []

/** A database without documents. It may have the collections and indexes of the product already. It is emptied here and not when it is
 *  returned, because MongoDB may still write what a killed process sent last. */
export async function takeDatabase(): Promise<string> {
  const name = used.shift()
  if (name === undefined) return `${DATABASE_PREFIX}${randomBytes(6).toString('hex')}`
  await withMongo(async client => {
    const collections = await client.db(name).collections()
    await Promise.all(collections.map(collection => collection.deleteMany({})))
  })
  return name
}

/** Once: two tests would get a database that is returned twice, and each would see what the other has written. */
export function returnDatabase(name: string): void {
  if (used.includes(name)) throw new Error(`the database ${name} was returned before`)
  used.push(name)
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
