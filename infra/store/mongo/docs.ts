// One collection on MongoDB. In: calls of the port. Out: calls of the driver. The port's filters and updates are MongoDB's own.
import {
  type Collection,
  type FindOptions,
  type Filter as MongoFilter,
  MongoServerError,
  type UpdateFilter,
} from 'mongodb'
import { idToInsert, refuseVagueFilter, shapeOf } from '../conditions.ts'
import type { Doc, Docs, Filter, Sort } from '../docs.ts'
import { Unindexed } from '../docs.ts'
import { isServedByIndex, orderOf } from '../index-coverage.ts'
import type { CollectionSpec } from '../store.ts'
import { changeAll } from './bulk-change.ts'
import { updateAll } from './bulk-update.ts'
import { bulkFailure, DUPLICATE_KEY, isDuplicateId } from './errors.ts'
import type { MongoDoc } from './mongo-doc.ts'

/** Runs a call on the engine, or rejects with `Unavailable`. */
export type RunCall = <R>(work: () => Promise<R>) => Promise<R>

const MAX_BATCH = 10_000
/** Without a limit, a linearizable read waits for a majority for ever. */
const CERTAIN_READ = { readConcern: { level: 'linearizable' }, maxTimeMS: 5_000 } as const
const NOT_A_REPLICA_SET = 123

export function createMongoDocs<T extends Doc>(
  collection: Collection<MongoDoc>,
  spec: CollectionSpec<T>,
  strict: boolean,
  run: RunCall,
): Docs<T> {
  const checkedFilter = (filter: Filter<T>, sort?: Sort<T>): MongoFilter<MongoDoc> => {
    refuseVagueFilter(filter)
    if (strict && !isServedByIndex(spec, filter, sort))
      throw new Unindexed(`${collection.collectionName}: ${shapeOf(filter)} by ${JSON.stringify(sort ?? {})}`)
    return filter as unknown as MongoFilter<MongoDoc>
  }

  return {
    async get(ids, { certain = false } = {}) {
      if (ids.length === 0) return new Map()
      const unique = [...new Set(ids)]
      const found = await run(() =>
        certain
          ? // MongoDB promises it for a read of one document.
            Promise.all(unique.map(_id => readCertain(options => collection.findOne({ _id }, options))))
          : collection.find({ _id: { $in: unique } }, { batchSize: MAX_BATCH }).toArray(),
      )
      return new Map(found.flatMap(doc => (doc === null ? [] : [[doc._id, doc as unknown as T]])))
    },

    async find(filter, { sort, limit, only, certain = false }) {
      const query = checkedFilter(filter, sort)
      if (limit <= 0) return []
      const order = new Map(orderOf(spec, filter, sort))
      const projection = only && { projection: Object.fromEntries(only.map(path => [path, 1])) }
      const page = { sort: order, limit, batchSize: Math.min(limit, MAX_BATCH), ...projection }
      const read = (more: FindOptions) => collection.find(query, { ...page, ...more }).toArray()
      return (await run(() => (certain ? readCertain(read) : read({})))) as unknown as T[]
    },

    async count(filter, max) {
      const query = checkedFilter(filter)
      return run(() => collection.countDocuments(query, max === undefined ? {} : { limit: max }))
    },

    async insert(docs) {
      if (docs.length === 0) return []
      const refused = await run(() =>
        collection.insertMany(docs as unknown as MongoDoc[], { ordered: false }).then(() => [], duplicatesIn),
      )
      const duplicates = new Set(refused)
      return docs.map((_, i) => (duplicates.has(i) ? 'duplicate' : 'inserted'))
    },

    async change(changes) {
      return changes.length === 0 ? [] : run(() => changeAll(collection, changes))
    },

    async update(updates) {
      return run(() => updateAll(collection, updates))
    },

    async modify(filter, update, { upsert = false } = {}) {
      const query = checkedFilter(filter)
      if (upsert) idToInsert(filter)
      const attempt = () =>
        collection.findOneAndUpdate(query, update as UpdateFilter<MongoDoc>, { upsert, returnDocument: 'after' })
      // Of two upserts at once, MongoDB refuses one because the other has inserted the `_id`. The second try finds that document; if
      // it is refused too, the document does not match the filter.
      const after = await run(() =>
        attempt().catch(error => {
          if (upsert && isDuplicateId(error)) return attempt()
          throw error
        }),
      )
      return after as unknown as T | null
    },

    async remove(filter, limit) {
      const query = checkedFilter(filter)
      if (limit <= 0) return 0
      return run(async () => {
        if (limit === 1) return (await collection.deleteOne(query)).deletedCount
        const found = await collection.find(query, { projection: { _id: 1 }, limit, batchSize: MAX_BATCH }).toArray()
        const stillMatching = { $and: [{ _id: { $in: found.map(({ _id }) => _id) } }, query] }
        return found.length === 0 ? 0 : (await collection.deleteMany(stillMatching)).deletedCount
      })
    },
  }
}

/** A primary that was frozen and wakes answers `local` reads from the past until it hears of its successor. A linearizable read is
 *  answered only once a majority has confirmed that it still is the primary. A server that is in no replica set refuses such a read; it has
 *  no successor, so its plain answer is certain. */
async function readCertain<Result>(read: (options: FindOptions) => Promise<Result>): Promise<Result> {
  try {
    return await read(CERTAIN_READ)
  } catch (error) {
    if (error instanceof MongoServerError && error.code === NOT_A_REPLICA_SET) return read({})
    throw error
  }
}

/** The positions of documents that were refused as duplicates. */
const duplicatesIn = (error: unknown): number[] => bulkFailure(error, [DUPLICATE_KEY]).refused.map(({ index }) => index)
