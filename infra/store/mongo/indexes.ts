// Creates the declared indexes; where the user may not, checks that they are there. Any other index is kept. One that
// exists with other options is an error that names it: the code relies on unique and fast indexes, and a starting
// process must not decide to drop one.
import { type Db, type IndexDescription, MongoServerError } from 'mongodb'
import { Unavailable } from '../../unavailable.ts'
import { keyOf } from '../index-coverage.ts'
import type { CollectionSpec, Collections, Index } from '../store.ts'
import { isDuplicate } from './errors.ts'

export async function ensureIndexes(db: Db, collections: Collections): Promise<void> {
  const { setName } = await db.command({ hello: 1 })
  // A majority is enough: a member that is down must not delay a start.
  const options = setName ? { commitQuorum: 'majority' as const } : {}
  const makeIndexes = async (name: string, spec: CollectionSpec): Promise<void> => {
    const indexes = indexDescriptionsOf(spec)
    try {
      if (indexes.length > 0) await db.collection(name).createIndexes(indexes, options)
    } catch (error) {
      if (isUnauthorized(error)) return requireIndexes(db, name, spec)
      if (!isRefusal(error)) throw error
      // The error does not say which index was refused, so they are created one by one.
      for (const index of indexes)
        await db.collection(name).createIndexes([index], options).catch(throwNamed(name, index))
    }
  }
  await Promise.all(Object.entries(collections).map(([name, spec]) => makeIndexes(name, spec)))
}

/** For a user that may not create indexes, as those of most roles (infra/deploy/rights.ts): waits for the process that does. */
async function requireIndexes(db: Db, name: string, spec: CollectionSpec): Promise<void> {
  const found = (await unlessGone(db.collection(name).indexes(), [])).map(index => index.name)
  const missing = indexDescriptionsOf(spec).some(index => !found.includes(index.name))
  if (missing)
    throw new Unavailable(
      `the indexes of ${name} are not made yet, and this user may not make them: the role sweeper does`,
    )
}

const NAMESPACE_NOT_FOUND = 26

/** The collection may not exist yet. */
const unlessGone = <T>(call: Promise<T>, otherwise: T): Promise<T> =>
  call.catch(error => {
    if (error instanceof MongoServerError && error.code === NAMESPACE_NOT_FOUND) return otherwise
    throw error
  })

export function indexDescriptionsOf(spec: CollectionSpec): IndexDescription[] {
  const declared = spec.indexes.map(describe)
  return spec.purged ? [...declared, { key: { purge_at: 1 }, name: 'purge_at_ttl', expireAfterSeconds: 0 }] : declared
}

/** The name leaves out the values of `partial`, so that an index with a changed condition conflicts with the old one instead of being
 *  created beside it. */
function describe(index: Index): IndexDescription {
  const key = keyOf(index)
  const where = index.partial ? [`where_${Object.keys(index.partial).join('_')}`] : []
  return {
    key: new Map(key),
    name: [...key.map(([path, direction]) => `${path}_${direction}`), ...where].join('_'),
    ...(index.unique ? { unique: true } : {}),
    ...(index.partial ? { partialFilterExpression: index.partial } : {}),
  }
}

const UNAUTHORIZED = 13
const INDEX_OPTIONS_CONFLICT = 85
const INDEX_KEY_SPECS_CONFLICT = 86

const isConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && [INDEX_OPTIONS_CONFLICT, INDEX_KEY_SPECS_CONFLICT].includes(Number(error.code))

export const isUnauthorized = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === UNAUTHORIZED

const isRefusal = (error: unknown): boolean => isConflict(error) || isDuplicate(error)

const throwNamed = (collection: string, index: IndexDescription) => (cause: Error) => {
  const which = `index ${index.name} of collection ${collection}`
  if (isConflict(cause))
    throw new Error(`The ${which} exists with other options; drop it, and it is made anew: ${cause.message}`, { cause })
  if (isDuplicate(cause)) throw new Error(`The unique ${which} cannot be made: documents that are there break it`)
  throw cause
}
