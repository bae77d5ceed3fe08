import { expect } from 'chai'
import fc from 'fast-check'
import type { Limit } from '../../../../machines/quotas.ts'
import { createLimits } from '../../../../services/otp/limits/limits.ts'
import { testClock } from '../../../support/clock.ts'
import { propertyRuns } from '../../../support/property-runs.ts'
import { eachStore } from '../../../support/stores.ts'

const SECONDS = 10
const PART_MS = 1_000

// With any timing of calls, by processes whose clocks differ, the store counts as a list of all grants would.
eachStore('sliding windows', fresh => {
  it('grant exactly while the parts that they count allow one more, and give back in the part that counted it', async () => {
    const store = await fresh()
    const clock = testClock()
    const behind = { now: () => clock.now() - 1_700 }
    const processes = [clock, behind].map(clock => ({
      clock,
      limits: createLimits({ counters: store.docs('counters'), clock }),
    }))
    let runs = 0
    const step = fc.record({
      gap: fc.oneof(fc.nat(300), fc.nat(4_000), fc.nat(15_000)),
      isBehind: fc.boolean(),
      /** How many grants later it is given back. */
      givenBack: fc.option(fc.nat(3), { freq: 3 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { minLength: 5, maxLength: 25 }),
        async (max, all) => {
          runs += 1
          const limit: Limit = { key: `run ${runs}`, rules: [{ max, seconds: SECONDS }] }
          /** The part of each grant that stands, and the newest part. */
          let grants: number[] = []
          let newest = 0
          const due: { at: number; process: (typeof processes)[number]; after: number }[] = []
          const usedIn = (part: number) => grants.filter(one => one >= part - 10).length
          for (const { gap, isBehind, givenBack } of all) {
            await clock.advance(gap)
            const process = processes[isBehind ? 1 : 0] as (typeof processes)[number]
            const now = process.clock.now()
            newest = Math.max(newest, Math.floor(now / PART_MS))
            const fits = usedIn(newest) + 1 <= max
            const taken = await process.limits.take(limit)
            expect(taken.granted).to.equal(fits)
            const outAt = (one: number) => (one + 11) * PART_MS - now
            if (taken.granted) {
              grants.push(newest)
              expect(taken.at).to.equal(now)
              const used = usedIn(newest)
              const more_in_ms = outAt(Math.min(...grants.filter(one => one >= newest - 10)))
              expect(taken.use).to.deep.equal({ max, seconds: SECONDS, remaining: max - used, more_in_ms })
              if (givenBack !== null) due.push({ at: taken.at, process, after: grants.length + givenBack })
            } else {
              const counted = grants.filter(one => one >= newest - 10).sort((one, other) => one - other)
              expect(taken.retry_after_ms).to.equal(outAt(counted[counted.length - max] ?? 0))
            }
            const ready = due.findIndex(({ after }) => after <= grants.length)
            const [back] = ready < 0 ? [] : due.splice(ready, 1)
            if (back === undefined) continue
            await back.process.limits.giveBack(limit, back.at)
            newest = Math.max(newest, Math.floor(back.process.clock.now() / PART_MS))
            const since = Math.floor(back.at / PART_MS)
            if (since < newest - 10) continue
            const counted = grants.filter(one => one >= since)
            const nth = grants.indexOf(Math.min(...counted))
            grants = grants.filter((_, place) => place !== nth)
          }
        },
      ),
      { numRuns: propertyRuns(25) },
    )
  })

  it('store no more than one number for each part that passed since the oldest count', async () => {
    const store = await fresh()
    const clock = testClock()
    const { take } = createLimits({ counters: store.docs('counters'), clock })
    const limit: Limit = { key: 'k', rules: [{ max: 1_000, seconds: SECONDS }] }
    const windowAfter = async (gap: number) => {
      await clock.advance(gap)
      await take(limit)
      return (await store.docs('counters').get(['k'])).get('k')?.windows.s10
    }
    const part = Math.floor(clock.now() / PART_MS)
    expect(await windowAfter(0)).to.deep.equal({ part, count: 1 })
    expect(await windowAfter(3 * PART_MS)).to.deep.equal({ part: part + 3, count: 1, before: [0, 0, 1] })
    for (let nth = 0; nth < 30; nth += 1) await windowAfter(PART_MS)
    expect(await windowAfter(0)).to.deep.equal({ part: part + 33, count: 2, before: Array(10).fill(1) })
    expect(await windowAfter(11 * PART_MS)).to.deep.equal({ part: part + 44, count: 1 })
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
