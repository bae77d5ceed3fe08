// The times of a chart in words.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  axisSteps,
  formatAxisTime,
  formatBucket,
  timeZoneOf,
} from '../../../../services/dashboard/web/ui/chart-times.ts'

const HOUR_MS = 3_600_000
const START = Date.UTC(2030, 5, 3)
const timesOf = (bucketMs: number, count: number) => ({
  starts: Array.from({ length: count }, (_, place) => START + place * bucketMs),
  bucketMs,
})

describe('the times of a chart', () => {
  it('are in UTC for days, which the server counts in UTC', () => {
    const days = timesOf(24 * HOUR_MS, 30)
    expect(timeZoneOf(days)).to.equal('UTC')
    expect(formatBucket(days)(START)).to.match(/3/).and.to.match(/Jun/).and.to.match(/Mon/)
    expect(formatAxisTime(days)(START + 12 * HOUR_MS)).to.match(/3/)
    expect(timeZoneOf(timesOf(HOUR_MS, 24))).to.equal(undefined)
  })

  it('have steps that are not shorter than a bucket, from short to long', () => {
    fc.assert(
      fc.property(fc.constantFrom(1, 6, 24), fc.integer({ min: 1, max: 200 }), (hours, count) => {
        const steps = axisSteps(timesOf(hours * HOUR_MS, count))
        expect(steps).to.deep.equal([...steps].sort((a, b) => a - b))
        if (hours !== 6) expect(steps[0]).to.be.at.least(hours * 3_600)
      }),
    )
  })
})
