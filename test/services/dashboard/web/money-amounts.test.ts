// Amounts of money as people read and type them.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  editableMicros,
  formatChange,
  formatMicros,
  parseAmount,
} from '../../../../services/dashboard/web/data/amounts.ts'

const spaced = (text: string): string => text.replaceAll('\u202f', ' ')

const safeInteger = fc.oneof(
  fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
  fc.constantFrom(0, 1, -1, 999_999, 1_000_000, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)

describe('an amount', () => {
  for (const [micros, text] of [
    [0, '0.00'],
    [-1, '−0.000001'],
    [40_000, '0.04'],
    [1_234_500_000, '1 234.50'],
    [-1_234_567_000_000, '−1 234 567.00'],
    [Number.MAX_SAFE_INTEGER, '9 007 199 254.740991'],
  ] as const)
    it(`of ${micros} micro-units is ${text}`, () => expect(spaced(formatMicros(micros))).to.equal(text))

  it('is parsed as it was shown, for every safe integer', () => {
    fc.assert(
      fc.property(safeInteger, micros => {
        for (const show of [formatMicros, formatChange, editableMicros])
          expect(parseAmount(show(micros))).to.deep.equal({ micros })
      }),
    )
  })

  it('of a change has a sign', () => {
    expect([5_000_000, -40_000, 0].map(formatChange)).to.deep.equal(['+5.00', '−0.04', '0.00'])
  })

  for (const [text, micros] of [
    ['12.', 12_000_000],
    ['.5', 500_000],
    [' 1 000.25 ', 1_000_250_000],
    ['−3', -3_000_000],
    ['-0', 0],
  ] as const)
    it(`"${text}" is ${micros} micro-units`, () => expect(parseAmount(text)).to.deep.equal({ micros }))

  for (const text of ['', '1,5', '1.2.3', 'ten', '1e3', '0.0000001', '9007199255', '--1', '.', '0x10'])
    it(`refuses "${text}" in words`, () => {
      const parsed = parseAmount(text)
      expect(parsed).to.have.property('error')
      expect('error' in parsed && parsed.error).to.match(/^[A-Z].*\.$/)
    })

  it('never throws, and is a safe integer or a refusal', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const parsed = parseAmount(text)
        if ('micros' in parsed) expect(Number.isSafeInteger(parsed.micros)).to.equal(true)
        else expect(parsed.error).to.be.a('string')
      }),
    )
  })
})
