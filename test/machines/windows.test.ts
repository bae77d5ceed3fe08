import { expect } from 'chai'
import fc from 'fast-check'
import { allowsOneMore, areOver, countOne, type Windows } from '../../machines/windows.ts'

describe('windows that are over', () => {
  it('decide like none, at every later time', () => {
    const rule = fc.record({ max: fc.integer({ min: 1, max: 3 }), seconds: fc.constantFrom(1, 60, 86_400) })
    fc.assert(
      fc.property(
        fc.array(rule, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat({ max: 90_000_000 }), { minLength: 1, maxLength: 10 }),
        fc.nat({ max: 400_000_000 }),
        (rules, times, after) => {
          const windows: Windows = {}
          const sorted = times.toSorted((one, other) => one - other)
          for (const at of sorted) countOne(windows, rules, at)
          const now = (sorted.at(-1) ?? 0) + after
          if (areOver(windows, now)) expect(allowsOneMore(windows, rules, now)).to.equal(true)
        },
      ),
    )
  })

  it('are found: two windows after the last count, and not sooner', () => {
    const windows: Windows = {}
    const rules = [
      { max: 1, seconds: 60 },
      { max: 9, seconds: 600, counts: 'messages' as const },
    ]
    countOne(windows, rules, 0)
    expect(areOver(windows, 1_199_999)).to.equal(false)
    expect(areOver(windows, 1_200_000)).to.equal(true)
  })
})
