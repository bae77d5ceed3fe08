import { Buffer } from 'node:buffer'
import { expect } from 'chai'
import fc from 'fast-check'
import { type CodeInputs, deriveCode, digitsFrom } from '../../../infra/crypto/code.ts'

const secret = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const of = (over: Partial<CodeInputs> = {}): CodeInputs => ({
  otpId: 'otp_01jz8x4q3k5m7n9p1r3t5v7w9y',
  generation: 1,
  salt: 'c2FsdA',
  length: 6,
  ...over,
})

/** Pearson's statistic for the hypothesis that all are equally likely. */
function chiSquare(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

describe('the code', () => {
  it('never changes its derivation: running verifications depend on it', () => {
    // Computed with Python's hmac.
    const codes = [1, 2].map(generation =>
      [4, 5, 6, 7, 8, 9, 10].map(length => deriveCode(of({ generation, length }), secret)),
    )
    expect(codes).to.deep.equal([
      ['1773', '11773', '011773', '4011773', '74011773', '174011773', '4035561939'],
      ['5695', '65695', '465695', '3465695', '03465695', '903465695', '9527851287'],
    ])
    expect(deriveCode(of({ generation: 92, length: 4 }), secret)).to.equal('0045')
  })

  it('has the wanted number of digits, leading zeros included', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 10 }), fc.string(), fc.nat(), (length, salt, generation) => {
        expect(deriveCode(of({ length, salt, generation }), secret)).to.match(new RegExp(`^\\d{${length}}$`))
      }),
    )
    for (const length of [0, 3, 11, 6.5, Number.NaN])
      expect(() => deriveCode(of({ length }), secret)).to.throw(RangeError)
  })

  it('depends on every input, and inputs are not simply joined', () => {
    const base = of({ length: 8 })
    const others = [
      deriveCode(base, secret),
      deriveCode({ ...base, generation: 2 }, secret),
      deriveCode({ ...base, salt: 'c2FsdB' }, secret),
      deriveCode({ ...base, otpId: 'otp_01jz8x4q3k5m7n9p1r3t5v7w9z' }, secret),
      deriveCode({ ...base, otpId: `${base.otpId}1`, generation: 1 }, secret),
      deriveCode({ ...base, generation: 11 }, secret),
      deriveCode({ ...base, generation: 1, salt: `1${base.salt}` }, secret),
      deriveCode(base, Buffer.alloc(32, 1)),
    ]
    expect(new Set(others)).to.have.property('size', others.length)
  })

  it('is evenly spread, digit by digit and as a whole', () => {
    // The inputs are fixed, so this passes always or never. The bounds are the 99.99 % quantiles for 9 and for 999 degrees of freedom.
    const digits = Array.from({ length: 6 }, () => Array<number>(10).fill(0))
    const buckets = Array<number>(1000).fill(0)
    const tail = Array<number>(1000).fill(0)
    const add = (counts: number[] | undefined, at: number) => {
      if (counts) counts[at] = (counts[at] ?? 0) + 1
    }
    for (let at = 0; at < 40_000; at++) {
      const code = deriveCode(of({ salt: `salt ${at}` }), secret)
      for (let place = 0; place < 6; place++) add(digits[place], Number(code[place]))
      add(buckets, Math.floor(Number(code) / 1000))
      add(tail, Number(code) % 1000)
    }
    for (const counts of digits) expect(chiSquare(counts)).to.be.below(33.72)
    for (const counts of [buckets, tail]) expect(chiSquare(counts)).to.be.below(1175)
  })
})

describe('reducing random words to digits', () => {
  const wordsOf = (size: number, ...values: number[]): Buffer => {
    const block = Buffer.alloc(size * values.length)
    for (const [at, value] of values.entries()) block.writeUIntBE(value, size * at, size)
    return block
  }
  const words = (...values: number[]): Buffer => wordsOf(4, ...values)

  it('takes the last unbiased word and skips the first biased one', () => {
    for (const length of [4, 5, 6, 7, 8, 9, 10]) {
      const size = length === 10 ? 6 : 4
      const range = 2 ** (8 * size)
      const fair = Math.floor(range / 10 ** length) * 10 ** length
      expect(digitsFrom(() => wordsOf(size, fair - 1, 5), length)).to.equal('9'.repeat(length))
      expect(digitsFrom(() => wordsOf(size, fair, 5), length)).to.equal('5'.padStart(length, '0'))
      expect(digitsFrom(() => wordsOf(size, range - 1, fair, 7), length)).to.equal('7'.padStart(length, '0'))
    }
  })

  it('takes another block when every word of one is biased', () => {
    const asked: number[] = []
    const code = digitsFrom(counter => {
      asked.push(counter)
      return counter < 2 ? Buffer.alloc(32, 0xff) : words(42)
    }, 8)
    expect([code, asked]).to.deep.equal(['00000042', [0, 1, 2]])
  })
})
