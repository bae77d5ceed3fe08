import { expect } from 'chai'
import fc from 'fast-check'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import { anyText } from '../../support/any-text.ts'

describe('constant-time comparison', () => {
  it('agrees with === on any two texts, broken characters included', () => {
    const text = anyText({ maxLength: 6 })
    fc.assert(fc.property(text, text, (a, b) => isSameSecret(a, b) === (a === b)))
    fc.assert(fc.property(text, a => isSameSecret(a, `${a}`)))
    for (const [a, b] of [
      ['\ud800', '\ud801'],
      ['123456', '1234567'],
      ['', '0'],
    ] as const)
      expect(isSameSecret(a, b)).to.equal(false)
  })
})
