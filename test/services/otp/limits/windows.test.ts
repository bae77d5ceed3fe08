import { expect } from 'chai'
import fc from 'fast-check'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import { testClock } from '../../../support/clock.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'

// With any timing of calls, a grant never makes the weighted count of a window exceed the maximum, and what fits is always granted.
eachStore('sliding windows', fresh => {
  it('grant exactly while the weighted count allows one more', async () => {
    const store = await fresh()
    let runs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 5, maxLength: 25 }),
        async (max, gaps) => {
          runs += 1
          const clock = testClock()
          const { take } = createLimits({ counters: store.docs('counters'), clock })
          const counted = { key: `run ${runs}`, rules: [{ max, seconds: 10 }] }
          const grants: number[] = []
          const used = (now: number) => {
            const bucket = Math.floor(now / 10_000)
            const inBucket = (which: number) => grants.filter(at => Math.floor(at / 10_000) === which).length
            return inBucket(bucket) + inBucket(bucket - 1) * (1 - (now % 10_000) / 10_000)
          }
          for (const gap of gaps) {
            await clock.advance(gap)
            const fits = used(clock.now()) + 1 <= max
            const taken = await take(counted)
            expect(taken.granted).to.equal(fits)
            if (taken.granted) {
              grants.push(clock.now())
              const remaining = Math.floor(max - used(clock.now()))
              expect(taken.use).to.deep.include({ max, seconds: 10, remaining })
              const inTime = clock.now() + (taken.use?.more_in_ms ?? 0)
              expect(Math.floor(max - used(inTime) + 1e-9), 'then one more fits than now').to.be.greaterThan(remaining)
            } else expect(taken.retry_after_ms).to.be.greaterThan(0)
          }
        },
      ),
      { numRuns: propertyRuns(25) },
    )
  })

  it('are purged when nothing asks for their counts, and not before an hour where they tell when they were last counted', async () => {
    const store = await fresh()
    const clock = testClock()
    const { take } = createLimits({ counters: store.docs('counters'), clock })
    const purgedAfter = async (key: string, more: { tellsLast?: true }) => {
      const counted = { key, rules: [{ max: 9, seconds: 10 }], ...more }
      const found: number[] = []
      for (let nth = 0; nth < 2; nth += 1) {
        await take(counted)
        found.push(((await store.docs('counters').get([key])).get(key)?.purge_at.getTime() ?? 0) - clock.now())
      }
      return found
    }
    expect(await purgedAfter('plain', {})).to.deep.equal([20_000, 20_000])
    expect(await purgedAfter('telling', { tellsLast: true })).to.deep.equal([3_600_000, 3_600_000])
  })
})
