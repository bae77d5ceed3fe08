// For tests that compare thousands of documents: chai's deep comparison is slow, so chai only explains a difference.
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'

export function expectSame(actual: unknown, expected: unknown, message?: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  expect(actual, message).to.deep.equal(expected)
  expect.fail(`${message ?? 'they'} differ in prototypes or hidden members`)
}
