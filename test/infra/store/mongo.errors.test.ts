import { expect } from 'chai'
import {
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  type WriteError,
} from 'mongodb'
import { Duplicate } from '../../../infra/store/docs.ts'
import { bulkFailure, DUPLICATE_KEY, toPortError } from '../../../infra/store/mongo/errors.ts'
import { Unavailable } from '../../../infra/unavailable.ts'

/** What a server says when it steps down or is frozen, as it was seen. A code is missing where the driver gave none. */
const PASSING: [string, number | undefined][] = [
  ['operation was interrupted', 11601],
  ['operation was interrupted', 11602],
  ['operation was interrupted', undefined],
  ['interrupted at shutdown', 11600],
  ['not primary', 10107],
  ['Not primary so we cannot begin or continue a transaction', 10107],
  ['Not primary so we cannot begin or continue a transaction', undefined],
  ['primary stepped down', 189],
  ['waiting for replication timed out', 64],
  ['not authorized on countersign', 13],
  ['an error of a version to come', 987_654],
]
const FINAL: [string, number][] = [
  ['Document failed validation', 121],
  ['Cannot apply $inc to a value of non-numeric type', 14],
  ['object to insert too large', 10334],
  ['Resulting document after update is larger than 16777216', 17419],
]

/** The parts of the driver's own, whose constructors are not public. */
const resultOf = (unconfirmed = false): BulkWriteResult =>
  ({ matchedCount: 2, getWriteConcernError: () => (unconfirmed ? { errmsg: 'late' } : undefined) }) as never
const writeError = (index: number, errmsg: string, code?: number): WriteError => ({ index, code, errmsg }) as never
const bulkError = (...writeErrors: WriteError[]): MongoBulkWriteError => {
  const { errmsg = '', code } = writeErrors[0] ?? {}
  return new MongoBulkWriteError({ message: errmsg, code: code as number, writeErrors }, resultOf())
}
/** The port's error for a bulk that failed so. */
function portErrorOf(error: unknown, codes: readonly number[] = []): unknown {
  try {
    return bulkFailure(error, codes)
  } catch (thrown) {
    return toPortError(thrown)
  }
}

describe('errors of MongoDB', () => {
  for (const [message, code] of PASSING)
    it(`of the moment: ${message} (${code ?? 'no code'}), as a call’s, a write’s, an unconfirmed bulk’s and a whole bulk’s`, () => {
      const error = new MongoServerError({ errmsg: message, code })
      expect(toPortError(error), 'call').to.be.instanceOf(Unavailable)
      const refused = writeError(1, message, code)
      expect(portErrorOf(bulkError(refused)), 'write').to.be.instanceOf(Unavailable)
      const mixed = bulkError(writeError(0, 'E11000', DUPLICATE_KEY), refused)
      expect(portErrorOf(mixed, [DUPLICATE_KEY]), 'beside a duplicate').to.be.instanceOf(Unavailable)
      const unconfirmed = new MongoBulkWriteError({ message, code: code as number }, resultOf())
      expect(portErrorOf(unconfirmed), 'unconfirmed').to.be.instanceOf(Unavailable)
      expect(portErrorOf(new MongoBulkWriteError(error, resultOf())), 'whole').to.be.instanceOf(Unavailable)
    })

  for (const [message, code] of FINAL)
    it(`that stay: ${message} (${code})`, () => {
      expect(toPortError(new MongoServerError({ errmsg: message, code }))).to.not.be.instanceOf(Unavailable)
      expect(portErrorOf(bulkError(writeError(0, message, code)))).to.not.be.instanceOf(Unavailable)
    })

  it('with a label of the driver pass, whatever their code', () => {
    const labelled = new MongoServerError({ errmsg: 'bad', code: 2, errorLabels: ['RetryableWriteError'] })
    expect(toPortError(labelled)).to.be.instanceOf(Unavailable)
    expect(toPortError(new MongoNetworkError('closed'))).to.be.instanceOf(Unavailable)
  })

  it('of a wrong call or of our own code stay as they are', () => {
    for (const error of [new MongoInvalidArgumentError('no operations'), new TypeError('x is undefined')])
      expect(toPortError(error)).to.equal(error)
  })

  it('are duplicates by position where the caller asks for them, and a duplicate error where it does not', () => {
    const error = bulkError(writeError(3, 'E11000 index: email_1 dup key', DUPLICATE_KEY))
    const { matched, refused } = bulkFailure(error, [DUPLICATE_KEY])
    expect([matched, refused.map(({ index }) => index)]).to.deep.equal([2, [3]])
    expect(portErrorOf(error)).to.be.instanceOf(Duplicate)
  })

  it('of refused writes that a majority did not confirm pass', () => {
    const refused = [writeError(0, 'E11000', DUPLICATE_KEY)]
    const error = new MongoBulkWriteError({ message: 'late', code: 64, writeErrors: refused }, resultOf(true))
    expect(portErrorOf(error, [DUPLICATE_KEY])).to.be.instanceOf(Unavailable)
  })
})
