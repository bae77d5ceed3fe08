// Translates the driver's errors. In: an error. Out: `Unavailable` for a failure that may pass, `Duplicate` for a unique index that
// refused. Any other error stays as it is.
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
} from 'mongodb'
import { Unavailable } from '../../unavailable.ts'
import { Duplicate } from '../docs.ts'

const TRANSIENT_ERRORS = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoTopologyClosedError,
  MongoClientClosedError,
  // Written, but not acknowledged by a majority in time.
  MongoWriteConcernError,
]

// Elections, shutdowns, timeouts, and writes that did not reach a majority.
const TRANSIENT_CODES = new Set([
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

// Labels on the errors of a server that steps down or is overloaded.
const TRANSIENT_LABELS = ['RetryableWriteError', 'SystemOverloadedError']

export const DUPLICATE_KEY = 11000

export function toPortError(error: unknown): unknown {
  if (isTransient(error)) return unavailable(error)
  return isDuplicate(error) ? duplicateError(error) : error
}

const unavailable = (cause: unknown): Unavailable => new Unavailable('MongoDB cannot do this now', { cause })

/** Names the index and leaves out the driver's error, which quotes the values: errors are logged. */
export function duplicateError(error: unknown): Duplicate {
  const index = /index: (\S+)/.exec(textOf(error))?.[1] ?? 'unknown'
  return new Duplicate(`The unique index ${index} refused the write`)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : '')

/** For the error of a whole call, or of one write in a bulk. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof Object && 'code' in error && error.code === DUPLICATE_KEY

/** True when the `_id` itself is taken, not a value of another unique index. */
export const isDuplicateId = (error: unknown): boolean =>
  error instanceof MongoServerError && isDuplicate(error) && '_id' in (error.errorResponse.keyPattern ?? {})

/** A write of a bulk that was refused, by its position. */
export interface RefusedWrite {
  index: number
  code: number
}

/** Answers how many statements of a bulk matched, and which were refused with one of these codes. Throws the port's error when the
 *  bulk failed in any other way. */
export function bulkFailure(error: unknown, codes: readonly number[]): { matched: number; refused: RefusedWrite[] } {
  if (!(error instanceof MongoBulkWriteError)) throw error
  // A bulk that failed as a whole (a lost connection, a primary that stepped down) has the same type of error.
  const whole: unknown = error.errorResponse
  if (whole instanceof Error) throw whole
  const refused = [error.writeErrors].flat()
  const unconfirmed = error.result.getWriteConcernError()
  if (unconfirmed) throw unavailable(unconfirmed)
  if (refused.some(({ code }) => TRANSIENT_CODES.has(code))) throw unavailable(new Error(error.message))
  const other = refused.find(({ code }) => !codes.includes(code))
  if (other && isDuplicate(other)) throw duplicateError(new Error(other.errmsg))
  // The driver's own error carries every document of the bulk, so it is not the cause here.
  if (other || refused.length === 0) throw new Error(`MongoDB refused a write: ${other?.errmsg ?? error.message}`)
  return { matched: error.matchedCount, refused }
}

function isTransient(error: unknown): boolean {
  if (TRANSIENT_ERRORS.some(kind => error instanceof kind)) return true
  if (isDnsFailure(error)) return true
  if (!(error instanceof MongoServerError)) return false
  return TRANSIENT_CODES.has(Number(error.code)) || TRANSIENT_LABELS.some(label => error.hasErrorLabel(label))
}

/** A name server did not answer for a `mongodb+srv` URL. */
const isDnsFailure = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('query')
