// What the driver throws, in the port's terms: `Unavailable` for what another moment may heal, `Duplicate` for a unique index that refused.
// Anything else stays what it is.
import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
  type WriteError,
} from 'mongodb'
import { Unavailable } from '../unavailable.ts'
import { Duplicate } from './docs.ts'

const PASSING = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
  MongoClientClosedError,
  // Written, but not known to a majority in time.
  MongoWriteConcernError,
]

// Elections, shutdowns, timeouts, and writes that did not reach a majority.
const PASSING_CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  100, // UnsatisfiableWriteConcern
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  317, // ConnectionPoolExpired
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
])

const DUPLICATE_KEY = 11000

export function inPortTerms(error: unknown): unknown {
  if (isPassing(error)) return unavailable(error)
  return isDuplicate(error) ? refusal(error) : error
}

const unavailable = (cause: unknown): Unavailable => new Unavailable('MongoDB cannot do this now', { cause })

export const refusal = (cause: unknown): Duplicate => new Duplicate('A unique index refused the write', { cause })

/** Of a whole call, or of one write in a bulk. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof Object && 'code' in error && error.code === DUPLICATE_KEY

/** The `_id` itself is taken, rather than a value of another unique index. */
export const isDuplicateId = (error: unknown): boolean =>
  error instanceof MongoServerError && isDuplicate(error) && '_id' in (error.errorResponse.keyPattern ?? {})

/** What of a bulk was done and what was not, by position. Throws when the error says more than that. */
export function bulkFailure(error: unknown): { matched: number; errors: WriteError[] } {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const errors = [error.writeErrors].flat()
  const unsure = error.result.getWriteConcernError() !== undefined
  if (unsure || errors.some(({ code }) => PASSING_CODES.has(code))) throw unavailable(error)
  if (errors.length === 0) throw error
  return { matched: error.matchedCount, errors }
}

function isPassing(error: unknown): boolean {
  if (PASSING.some(kind => error instanceof kind)) return true
  if (isNameFailure(error)) return true
  if (!(error instanceof MongoServerError)) return false
  return PASSING_CODES.has(Number(error.code)) || error.hasErrorLabel('RetryableWriteError')
}

/** A name server that does not answer, for a `mongodb+srv` URL. */
const isNameFailure = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('query')
