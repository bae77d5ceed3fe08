import { expect } from 'chai'
import fc from 'fast-check'
import {
  countAddresses,
  covers,
  type Intervals,
  includesAddress,
  intervalsOf,
  unionOf,
  type Words,
} from '../../../../services/domain/address-lists/intervals.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const TOP = { 1: 2n ** 32n - 1n, 4: 2n ** 128n - 1n }

type Range = [bigint, bigint]

const wordsOf = (words: Words, value: bigint): number[] =>
  Array.from({ length: words }, (_, word) => Number((value >> BigInt(32 * (words - 1 - word))) & 0xffffffffn))

const setOf = (words: Words, ranges: readonly Range[]): Intervals =>
  intervalsOf(words, Uint32Array.from(ranges.flatMap(range => range.flatMap(end => wordsOf(words, end)))))

const rangesOf = ({ words, data }: Intervals): Range[] => {
  const value = (at: number): bigint =>
    [...data.subarray(at, at + words)].reduce((sum, word) => (sum << 32n) | BigInt(word), 0n)
  return Array.from({ length: data.length / words / 2 }, (_, nth) => [
    value(nth * 2 * words),
    value(nth * 2 * words + words),
  ])
}

const has = (set: Intervals, value: bigint): boolean =>
  includesAddress(set, Uint32Array.from(wordsOf(set.words, value)))

const NEAR = [0n, 2n ** 31n, 2n ** 32n, 2n ** 64n, 2n ** 127n]

/** Few values near the ends of words and of the address space, so that random ranges overlap and touch. */
const values = (words: Words): fc.Arbitrary<bigint> =>
  fc
    .tuple(fc.constantFrom(...NEAR.filter(one => one <= TOP[words]), TOP[words]), fc.bigInt({ min: -6n, max: 6n }))
    .map(([near, by]) => near + by)
    .filter(value => value >= 0n && value <= TOP[words])

const someRanges = (words: Words): fc.Arbitrary<Range[]> =>
  fc.array(
    fc.tuple(values(words), values(words)).map(([one, other]): Range => (one < other ? [one, other] : [other, one])),
    { maxLength: 20 },
  )

for (const words of [1, 4] as const)
  describe(`a set of ${words === 1 ? 'IPv4' : 'IPv6'} addresses`, () => {
    it('includes the addresses of its ranges, and no others', () => {
      fc.assert(
        fc.property(someRanges(words), values(words), (ranges, value) => {
          expect(has(setOf(words, ranges), value)).to.equal(
            ranges.some(([first, last]) => first <= value && value <= last),
          )
        }),
        { numRuns: propertyRuns(300) },
      )
    })

    it('is sorted, disjoint and without adjacent intervals, built in any way', () => {
      fc.assert(
        fc.property(fc.array(someRanges(words), { maxLength: 5 }), lists => {
          const together = setOf(words, lists.flat())
          const joined = unionOf(
            words,
            lists.map(ranges => setOf(words, ranges)),
          )
          const ranges = rangesOf(together)
          expect(rangesOf(joined)).to.deep.equal(ranges)
          for (const [at, [first, last]] of ranges.entries()) {
            expect(first <= last).to.equal(true)
            const next = ranges[at + 1]
            if (next) expect(next[0] > last + 1n).to.equal(true)
          }
        }),
        { numRuns: propertyRuns(150) },
      )
    })

    it('covers a range if it includes all of it', () => {
      fc.assert(
        fc.property(someRanges(words), values(words), values(words), (ranges, one, other) => {
          const [first, last] = one < other ? [one, other] : [other, one]
          const asked = Uint32Array.from([...wordsOf(words, first), ...wordsOf(words, last)])
          const set = setOf(words, ranges)
          expect(covers(set, asked)).to.equal(rangesOf(set).some(range => range[0] <= first && last <= range[1]))
        }),
        { numRuns: propertyRuns(150) },
      )
    })

    it('counts its addresses within a range', () => {
      fc.assert(
        fc.property(someRanges(words), values(words), values(words), (ranges, one, other) => {
          const [first, last] = one < other ? [one, other] : [other, one]
          const set = setOf(words, ranges)
          const sizes = rangesOf(set).map(([from, to]) => (to < last ? to : last) - (from > first ? from : first) + 1n)
          const exact = Number(sizes.filter(size => size > 0n).reduce((sum, size) => sum + size, 0n))
          const within = Uint32Array.from([...wordsOf(words, first), ...wordsOf(words, last)])
          expect(countAddresses(set, within)).to.be.closeTo(exact, exact / 2 ** 40)
        }),
        { numRuns: propertyRuns(150) },
      )
    })
  })
