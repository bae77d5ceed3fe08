import { expect } from 'chai'
import fc from 'fast-check'
import { createClockWatch } from '../../infra/clock-watch.ts'
import { createMetrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { createCapturedLog } from '../support/captured-log.ts'
import { testClock } from '../support/clock.ts'
import { propertyRuns } from '../support/property-runs.ts'

/** A watch on a store whose answer takes `wayThereMs` and `wayBackMs`. This clock is `offsetMs` ahead of the store's. */
function watch({ offsetMs, wayThereMs = 0, wayBackMs = 0 }: Record<string, number>) {
  const [clock, metrics] = [testClock(), createMetrics()]
  const store = {
    ping: async () => {},
    async time() {
      await clock.advance(wayThereMs)
      const at = clock.now() - (offsetMs ?? 0)
      await clock.advance(wayBackMs)
      return at
    },
  }
  const watching = createClockWatch({ store, clock, log: createCapturedLog().log, metrics, onChange() {} })
  const gauge = async () => (await metrics.clockOffset.get()).values[0]?.value ?? 0
  return { ...watching, gauge }
}

const ROUND_TRIP = fc.record({
  wayThereMs: fc.integer({ min: 0, max: 1_000 }),
  wayBackMs: fc.integer({ min: 0, max: 1_000 }),
})

describe('the comparison of clocks', () => {
  it('takes no slow answer for an offset', () =>
    fc.assert(
      fc.asyncProperty(ROUND_TRIP, async roundTrip => {
        const { start, gauge, check } = watch({ offsetMs: 0, ...roundTrip })
        await start()
        expect(await gauge()).to.equal(0)
        expect(check()).to.deep.equal({ name: 'clock', ok: true, detail: "agrees with the store's" })
      }),
      { numRuns: propertyRuns(50) },
    ))

  it('never reports more than the offset, and at most a round trip less', () =>
    fc.assert(
      fc.asyncProperty(ROUND_TRIP, fc.integer({ min: -20_000, max: 20_000 }), async (roundTrip, offsetMs) => {
        const { start, gauge } = watch({ offsetMs, ...roundTrip })
        await start()
        const measuredMs = Math.round((await gauge()) * 1000)
        expect(Math.abs(measuredMs)).to.be.at.most(Math.abs(offsetMs))
        expect(Math.abs(offsetMs - measuredMs)).to.be.at.most(roundTrip.wayThereMs + roundTrip.wayBackMs)
      }),
      { numRuns: propertyRuns(100) },
    ))

  it('does not trust an answer that took so long that it could hide an offset', async () => {
    const { start, trusted, check } = watch({ offsetMs: 3_600_000, wayThereMs: 1_500, wayBackMs: 501 })
    expect(await start().catch((error: unknown) => error)).to.be.instanceOf(Unavailable)
    expect(trusted()).to.equal(false)
    expect(check().detail).to.equal("not yet compared with the store's")
  })
})
