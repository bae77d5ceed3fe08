import { expect } from 'chai'
import fc from 'fast-check'
import { equal } from '../../../infra/crypto/compare.ts'

describe('constant-time comparison', () => {
  it('agrees with === on any two texts, broken characters included', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6 })
    fc.assert(fc.property(text, text, (a, b) => equal(a, b) === (a === b)))
    fc.assert(fc.property(text, a => equal(a, `${a}`)))
    expect(equal('\ud800', '\ud801')).to.equal(false)
  })

  it('takes texts of different lengths', () => {
    expect(equal('123456', '1234567')).to.equal(false)
    expect(equal('', '')).to.equal(true)
    expect(equal('', '0')).to.equal(false)
  })
})
