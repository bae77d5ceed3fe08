import { expect } from 'chai'
import fc from 'fast-check'
import { enteredCode, normalizeCode } from '../../../../services/domain/verifications/entered-code.ts'

const isDigit = (text: string): boolean => /^\p{Nd}$/u.test(text)

/** Every character of Unicode's category Nd. All stand in the first two planes. */
const DIGITS = Array.from({ length: 0x2_0000 }, (_, point) => String.fromCodePoint(point)).filter(isDigit)

/** The ten digits of each script that ICU writes numbers with. ICU has the values from Unicode's data, not from their order. */
const SCRIPTS = Intl.supportedValuesOf('numberingSystem')
  .map(numberingSystem => new Intl.NumberFormat('en', { numberingSystem, useGrouping: false }))
  .map(format => Array.from({ length: 10 }, (_, digit) => format.format(digit)))
  .filter(digits => digits.every(isDigit))

const SEPARATORS = [
  ...' \t\n\r\v\f\u0085\u00a0\u2003\u2028\u202f\u3000\ufeff',
  ...'\u200b\u200e\u200f\u2066\u2069',
  ...'-\u00ad\u2010\u2011\u2012\u2013\u2014\u2212\uff0d',
]

const digit = fc.integer({ min: 0, max: 9 })
const script = fc.constantFrom(...SCRIPTS)
const separators = fc.array(fc.constantFrom(...SEPARATORS), { maxLength: 3 }).map(some => some.join(''))

describe('a code as it was entered', () => {
  it('is the same in the digits of every script, whatever separates them', () => {
    expect(SCRIPTS.length).to.be.above(50)
    const typedDigit = fc.record({ digit, script, separators })
    fc.assert(
      fc.property(separators, fc.array(typedDigit, { minLength: 1, maxLength: 10 }), (before, typed) => {
        const text = typed.map(one => `${one.script[one.digit]}${one.separators}`).join('')
        expect(normalizeCode(before + text)).to.equal(typed.map(one => one.digit).join(''))
      }),
    )
  })

  it('has ASCII digits for every decimal digit of Unicode', () => {
    expect(DIGITS.length).to.be.above(700)
    expect(DIGITS.map(normalizeCode).join('')).to.equal('0123456789'.repeat(DIGITS.length / 10))
  })

  it('keeps every other character, so that no wrong code becomes the right one', () => {
    const isDropped = (char: string) =>
      SEPARATORS.includes(char) || /[\s\p{White_Space}\p{Dash}\p{Format}\p{Nd}]/u.test(char)
    const kept = fc.string({ unit: 'binary' }).map(text => [...text].filter(char => !isDropped(char)).join(''))
    fc.assert(fc.property(kept, text => normalizeCode(text) === text))
    for (const text of ['½', '²', 'Ⅳ', '四', '①', '12.3', '1/2', '1,2']) expect(normalizeCode(text)).to.equal(text)
  })

  it('is cut before it is read, so that a long text does not keep the process busy', () => {
    expect(normalizeCode('1'.repeat(10_000))).to.equal('1'.repeat(200))
  })

  it('has 4 to 10 digits and nothing else, or is not valid', () => {
    const isValid = (text: string) => enteredCode().safeParse(text).success
    fc.assert(fc.property(separators, text => !isValid(text)))
    for (const text of ['123', '12345678901', 'abcd', '½½½½', '12a456', '१२३x४५६', '9'.repeat(5_000)])
      expect(isValid(text), text).to.equal(false)
    expect(enteredCode().parse(' ٤-2 00')).to.equal('4200')
    expect(enteredCode().parse('0123456789')).to.equal('0123456789')
  })
})
