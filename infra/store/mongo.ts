// The store on MongoDB 6.0 or newer: a replica set, or a single server for development. In: a URL and the table of collections. Out: the
// store port, at once. It connects in the background, so that a process can start and answer health checks while MongoDB is away. A call
// waits for the connection and the indexes up to `timeoutMs`, then rejects with `Unavailable`; the next call tries again.
import { type Db, MongoClient, type MongoClientOptions, MongoServerError, ReadPreference } from 'mongodb'
import { type Clock, systemClock } from '../clock.ts'
import type { EngineWait } from '../engine-wait.ts'
import type { EngineWatch } from '../engine-watch.ts'
import { scrub } from '../log/scrub.ts'
import { StartProblem } from '../start-problem.ts'
import { Unavailable } from '../unavailable.ts'
import { createMongoDocs, type RunCall } from './mongo/docs.ts'
import { toPortError } from './mongo/errors.ts'
import { ensureIndexes, isUnauthorized } from './mongo/indexes.ts'
import type { Collections, Store } from './store.ts'

export interface MongoStoreOptions<C extends Collections> {
  url: string
  collections: C
  /** Default: the database in the URL's path, or `countersign` where it has none. */
  database?: string
  /** Throw `Unindexed` for a query that no declared index serves. */
  strict?: boolean
  /** The longest a call may take. */
  timeoutMs?: number
  clock?: Clock
  /** Is told how the first connection goes. */
  wait?: EngineWait
  /** Is told of every call. */
  watch?: Pick<EngineWatch, 'observe' | 'stop'>
}

export function createMongoStore<C extends Collections>(options: MongoStoreOptions<C>): Store<C> {
  const { url, collections, strict = false, timeoutMs = 10_000, clock = systemClock, wait, watch } = options
  const client = createClient(url, timeoutMs)
  const db = client.db(options.database ?? databaseIn(url) ?? 'countersign')
  const ready = onceUnlessFailed(async () => {
    // Called here, and again after a failure, because the driver connects by itself only once and stays closed when that fails.
    try {
      await client.connect()
      await ensureIndexes(db, collections)
    } catch (error) {
      wait?.failed(error)
      throw accessProblem(error, url, db.databaseName) ?? error
    }
    wait?.answered()
  })
  // Says why long before a call gives up.
  client.on('serverHeartbeatFailed', ({ failure }) => wait?.failed(failure))
  const calls = createCallRunner(ready, timeoutMs, clock, watch?.observe)
  const opening = ready().catch(() => undefined) // The next call tries again and gets the error.

  return {
    docs(name) {
      const spec = collections[name]
      if (!spec) throw new TypeError(`There is no collection ${name}`)
      return createMongoDocs(db.collection(name), spec, strict, calls.run)
    },
    ping: () => calls.run(() => ping(db)),
    time: () => calls.run(() => readTime(db)),
    // MongoDB decides when it overwrites pages of its files.
    forgetRemoved: async () => {},
    async close() {
      wait?.stop()
      watch?.stop()
      await calls.finish()
      await client.close()
      // A connection that was being opened may have been established meanwhile.
      await opening
      await client.close()
    },
  }
}

/** Reads go to the primary, at read concern `local`. A conditional write is compared with the newest state, so a caller that read an older,
 *  majority-committed state would lose the same race again. Decisions are made by writes, never by a read alone, and a write is
 *  acknowledged by a majority, in their journals. */
function createClient(url: string, timeoutMs: number): MongoClient {
  const urlOptions = new URLSearchParams(url.split('?')[1])
  const options: MongoClientOptions = {
    appName: 'countersign',
    readPreference: ReadPreference.primary,
    readConcern: { level: 'local' },
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: timeoutMs },
    retryWrites: true,
    retryReads: true,
    ignoreUndefined: true,
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    ...(urlOptions.has('maxPoolSize') ? {} : { maxPoolSize: 50 }),
  }
  try {
    return new MongoClient(url, options)
  } catch (error) {
    // For example an unknown option. The driver may quote the whole URL with its password.
    throw new StartProblem(`MONGODB_URL: ${scrub(error instanceof Error ? error.message : String(error))}`)
  }
}

/** The hosts of a MongoDB URL, without its credentials. */
export const mongoHosts = (url: string): string[] =>
  (/^[^:]+:\/\/(?:[^@/?]*@)?([^/?]+)/.exec(url)?.[1] ?? '').split(',').filter(host => host !== '')

const AUTHENTICATION_FAILED = 18
/** MongoDB Atlas has a code of its own for both. */
const ATLAS_ERROR = 8000

/** MongoDB has answered, and refuses this user: that does not pass by waiting. Null for other failures. */
function accessProblem(error: unknown, url: string, database: string): StartProblem | null {
  const code = error instanceof MongoServerError ? Number(error.code) : 0
  const place = `MongoDB at ${mongoHosts(url).join()}`
  if (code === AUTHENTICATION_FAILED || code === ATLAS_ERROR)
    return new StartProblem(`MONGODB_URL: ${place} refuses the user or the password. Correct them in MONGODB_URL`)
  if (!isUnauthorized(error)) return null
  const remedy = 'Give the user the role readWrite there, or name another user in MONGODB_URL'
  return new StartProblem(`MONGODB_URL: ${place} does not let its user work in the database ${database}. ${remedy}`)
}

function databaseIn(url: string): string | undefined {
  const path = /^[^:]+:\/\/[^/?]*\/([^?]+)/.exec(url)?.[1]
  return path && decodeURIComponent(path)
}

const ping = async (db: Db): Promise<void> => {
  await db.command({ ping: 1 })
}

const readTime = async (db: Db): Promise<number> => {
  const { localTime } = await db.command({ hello: 1 })
  return localTime.getTime()
}

/** Runs `work` once; after a failure, the next call runs it again. */
function onceUnlessFailed(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined
  return () => {
    current ??= work().catch(error => {
      current = undefined
      throw error
    })
    return current
  }
}

/** Runs every call of the store: rejects after `close`, waits until the store is ready, and takes no longer than `timeoutMs`. */
function createCallRunner(
  ready: () => Promise<void>,
  timeoutMs: number,
  clock: Clock,
  observe: EngineWatch['observe'] = call => call,
): { run: RunCall; finish(): Promise<void> } {
  const running = new Set<Promise<unknown>>()
  let closed = false

  const withTimeout = <R>(work: Promise<R>): Promise<R> =>
    new Promise((resolve, reject) => {
      const late = () => reject(new Unavailable(`MongoDB did not answer within ${timeoutMs} ms`))
      const cancel = clock.after(timeoutMs, late)
      work.then(resolve, error => reject(toPortError(error))).finally(cancel)
    })

  return {
    run(work) {
      if (closed) return Promise.reject(new Unavailable('The store is closed'))
      const call = observe(withTimeout(ready().then(work)))
      running.add(call)
      const gone = () => running.delete(call)
      call.then(gone, gone)
      return call
    },
    async finish() {
      closed = true
      await Promise.allSettled(running)
    },
  }
}
