// Translates the driver's errors. In: an error. Out: `Unavailable` for a failure that may pass, `Duplicate` for a unique index that
// refused. Any other error stays as it is.
import {
  MongoAPIError,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
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

/** Labels on the errors of a server that steps down or is overloaded. */
const TRANSIENT_LABELS = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError']

export const DUPLICATE_KEY = 11000

/** Errors that the statement or the document itself causes: the same call fails again. Every other error counts as one that may pass. A
 *  server that steps down has many errors, and one that is missing in a list of those would bury work that was accepted. */
const FINAL_CODES = new Set([
  DUPLICATE_KEY,
  2, // BadValue
  4, // NoSuchKey
  9, // FailedToParse
  14, // TypeMismatch
  15, // Overflow
  16, // InvalidLength
  20, // IllegalOperation
  22, // InvalidBSON
  28, // PathNotViable
  40, // ConflictingUpdateOperators
  52, // DollarPrefixedFieldName
  53, // InvalidIdField
  54, // NotSingleValueField
  55, // InvalidDBRef
  56, // EmptyFieldName
  57, // DottedFieldName
  59, // CommandNotFound
  66, // ImmutableField
  67, // CannotCreateIndex
  72, // InvalidOptions
  73, // InvalidNamespace
  85, // IndexOptionsConflict
  86, // IndexKeySpecsConflict
  121, // DocumentValidationFailure
  168, // InvalidPipelineOperator
  10334, // BSONObjectTooLarge
  17280, // KeyTooLong
  17419, // A document that an update makes too large
  17420, // The same, of an update that replaces it
  40066, // A $switch without a matching branch
])

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
  // Without a refused write, the writes were done and a majority did not confirm them. That the primary stepped down meanwhile is such an
  // error too, and the driver gives it no type of its own here.
  if (refused.length === 0 || error.result.getWriteConcernError() || refused.some(({ code }) => !isFinalCode(code)))
    // The driver's own error carries every document of the bulk, so it is not the cause here.
    throw unavailable(new Error(error.message))
  const other = refused.find(({ code }) => !codes.includes(code))
  if (other && isDuplicate(other)) throw duplicateError(new Error(other.errmsg))
  if (other) throw new Error(`MongoDB refused a write: ${other.errmsg}`)
  return { matched: error.matchedCount, refused }
}

function isTransient(error: unknown): boolean {
  if (TRANSIENT_ERRORS.some(kind => error instanceof kind) || isDnsFailure(error)) return true
  // A wrong call of the driver. The driver's errors of a closed connection are of this type too, and in the list above.
  if (!(error instanceof MongoError) || error instanceof MongoAPIError) return false
  return TRANSIENT_LABELS.some(label => error.hasErrorLabel(label)) || !isFinalCode(error.code)
}

const isFinalCode = (code: unknown): boolean => FINAL_CODES.has(Number(code))

/** A name server did not answer for a `mongodb+srv` URL. */
const isDnsFailure = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && String(error.syscall).startsWith('query')
