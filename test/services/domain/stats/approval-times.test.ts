import { expect } from 'chai'
import fc from 'fast-check'
import { approvalStep, compactTimes, medianSeconds } from '../../../../services/domain/stats/approval-times.ts'

describe('times to approval', () => {
  const times = (all: readonly number[]) => all.flatMap(seconds => [approvalStep(seconds * 1000), 1])
  const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.ceil(all.length / 2) - 1] ?? 0

  it('have an exact median below a minute', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 59 }), { minLength: 1 }), all => {
        expect(medianSeconds(times(all))).to.equal(median(all))
      }),
    )
  })

  it('have a median within 5 % above, up to the longest life of a code', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 60, max: 10_800 }), { minLength: 1 }), all => {
        expect(medianSeconds(times(all))).to.be.closeTo(median(all), median(all) * 0.05)
      }),
    )
  })

  it('do not depend on the order, and are the same when summed up', () => {
    const all = times([3, 500, 3, 12, 9_000])
    expect(compactTimes(all)).to.have.length(8)
    expect(medianSeconds(compactTimes(all)))
      .to.equal(medianSeconds(all))
      .and.equal(12)
  })

  it('take what clocks that disagree make of them, and are null without an approval, or when all were taken out again', () => {
    expect(medianSeconds([approvalStep(-5_000), 1])).to.equal(0)
    expect(medianSeconds([approvalStep(1e12), 1])).to.be.closeTo(10_800, 540)
    expect(medianSeconds([])).to.equal(null)
    expect(medianSeconds([7, 1, 7, -1])).to.equal(null)
  })
})
