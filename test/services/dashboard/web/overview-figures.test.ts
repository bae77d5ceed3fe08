// The figures of the overview: sums of rows, buckets without traffic, and the change against the period before.
import { expect } from 'chai'
import fc from 'fast-check'
import {
  compareCounts,
  compareSeconds,
  compareShares,
} from '../../../../services/dashboard/web/screens/overview/comparison.ts'
import { type CountedRow, sumRows } from '../../../../services/dashboard/web/screens/overview/figures.ts'
import { deliveryRateWords } from '../../../../services/dashboard/web/screens/overview/messages.ts'
import { partsOf, periodOf, RANGES, startsOf } from '../../../../services/dashboard/web/screens/overview/period.ts'
import { type BucketRow, fillBuckets, splitRows } from '../../../../services/dashboard/web/screens/overview/split.ts'

const NOW = Date.UTC(2030, 5, 15, 13, 20)
const HOUR_MS = 3_600_000

const NOTHING: CountedRow = {
  started: 0,
  queued: 0,
  without_receipt: 0,
  delivered: 0,
  messages_failed: 0,
  approved: 0,
  failed: 0,
  expired: 0,
  refused: 0,
  spend_micros: 0,
  seconds_to_approve_p50: null,
}

/** A row as the API makes it: no more were approved than started, and an approval has taken some time. */
const countedRow: fc.Arbitrary<CountedRow> = fc
  .record({
    started: fc.nat(500),
    queued: fc.nat(50),
    without_receipt: fc.nat(50),
    delivered: fc.nat(500),
    messages_failed: fc.nat(50),
    refused: fc.nat(50),
    spend_micros: fc.integer({ min: -50, max: 500 }),
    approvedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    seconds: fc.nat(600),
  })
  .map(({ approvedShare, seconds, ...counts }) => {
    const approved = Math.floor(counts.started * approvedShare)
    return {
      ...counts,
      approved,
      failed: 0,
      expired: counts.started - approved,
      seconds_to_approve_p50: approved > 0 ? seconds : null,
    }
  })

const range = fc.constantFrom(...RANGES)
const time = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2035, 0, 1) })

describe('the sum of rows', () => {
  it('adds counts, and divides the sums, not the shares', () => {
    const rows = [
      { ...NOTHING, started: 1, delivered: 1, approved: 1, seconds_to_approve_p50: 9 },
      { ...NOTHING, started: 9, delivered: 1, messages_failed: 3, approved: 0 },
    ]
    expect(sumRows(rows)).to.include({ started: 10, approved: 1, conversion: 0.1, deliveryRate: 0.4, seconds: 9 })
  })

  it('has messages that are queued, without a receipt, delivered or failed, and a rate of those with a known outcome', () => {
    const rows = [
      { ...NOTHING, queued: 3, delivered: 6 },
      { ...NOTHING, without_receipt: 5, messages_failed: 2 },
    ]
    expect(sumRows(rows)).to.include({
      messages: 16,
      queued: 3,
      withoutReceipt: 5,
      delivered: 6,
      messagesFailed: 2,
      deliveryRate: 0.75,
    })
  })

  it('has no delivery rate where providers send no receipts, and 0% where messages fail', () => {
    const words = (row: Partial<CountedRow>) => deliveryRateWords(sumRows([{ ...NOTHING, ...row }]))
    expect(words({ without_receipt: 9 })).to.equal('No receipts')
    expect(words({ without_receipt: 9, messages_failed: 1 })).to.equal('No receipts')
    expect(words({ without_receipt: 1, messages_failed: 9 })).to.equal('0%')
    expect(words({ without_receipt: 9, delivered: 1 })).to.equal('100%')
    expect(words({ queued: 9 })).to.equal('–')
  })

  it('weighs the time to approval by approvals', () => {
    const quick = { ...NOTHING, started: 9, approved: 9, seconds_to_approve_p50: 10 }
    const slow = { ...NOTHING, started: 1, approved: 1, seconds_to_approve_p50: 300 }
    expect(sumRows([slow, quick]).seconds).to.equal(10)
  })

  it('of two parts together is the sum of their sums, in any order', () => {
    fc.assert(
      fc.property(fc.array(countedRow), fc.array(countedRow), (some, others) => {
        const [a, b, all] = [sumRows(some), sumRows(others), sumRows([...others, ...some])]
        for (const name of ['started', 'messages', 'delivered', 'approved', 'failed', 'expired', 'refused'] as const)
          expect(all[name]).to.equal(a[name] + b[name])
        expect(all).to.deep.equal(sumRows([...some, ...others]))
      }),
    )
  })

  it('has shares between 0 and 1, and a time between the shortest and the longest', () => {
    fc.assert(
      fc.property(fc.array(countedRow), rows => {
        const { conversion, deliveryRate, seconds } = sumRows(rows)
        for (const share of [conversion, deliveryRate]) expect(share ?? 0).to.be.within(0, 1)
        const times = rows.flatMap(({ seconds_to_approve_p50: one }) => (one === null ? [] : [one]))
        if (times.length === 0) expect(seconds).to.equal(null)
        else expect(seconds).to.be.within(Math.min(...times), Math.max(...times))
      }),
    )
  })
})

describe('the periods of the overview', () => {
  it('end with the bucket of now, and are compared with those just before', () => {
    const day = periodOf('24h', NOW)
    expect([day.bucket, day.count]).to.deep.equal(['hour', 24])
    expect(new Date(day.since).toISOString()).to.equal('2030-06-14T14:00:00.000Z')
    expect(new Date(day.until).toISOString()).to.equal('2030-06-15T14:00:00.000Z')
    expect(new Date(day.comparedSince).toISOString()).to.equal('2030-06-13T15:00:00.000Z')
    expect(new Date(periodOf('30d', NOW).since).toISOString()).to.equal('2030-05-17T00:00:00.000Z')
  })

  it('contain now in their last bucket, and ask for no more than the API shows', () => {
    fc.assert(
      fc.property(range, time, (chosen, now) => {
        const period = periodOf(chosen, now)
        const starts = startsOf(period)
        expect(starts).to.have.length(period.count)
        expect(now).to.be.within(starts.at(-1) ?? 0, period.until - 1)
        const apiMs = period.bucket === 'hour' ? HOUR_MS : 24 * HOUR_MS
        // docs/admin-api.md: 168 hours or 100 days by country; 744 hours or 400 days of all; hours are kept for 40 days.
        expect((period.until - period.since) / apiMs).to.be.at.most(period.bucket === 'hour' ? 168 : 100)
        expect((period.until - period.comparedSince) / apiMs).to.be.at.most(period.bucket === 'hour' ? 744 : 400)
        if (period.bucket === 'hour') expect(now - period.comparedSince).to.be.below(40 * 24 * HOUR_MS)
      }),
    )
  })

  it('compare as many buckets that are over as there are before', () => {
    fc.assert(
      fc.property(range, time, (chosen, now) => {
        const period = periodOf(chosen, now)
        const apiMs = period.bucket === 'hour' ? HOUR_MS : 24 * HOUR_MS
        const rows = Array.from({ length: (period.until - period.comparedSince) / apiMs }, (_, place) => ({
          bucket: new Date(period.comparedSince + place * apiMs).toISOString(),
        }))
        const { shown, over, before } = partsOf(rows, period)
        expect(over).to.have.length(before.length)
        expect([...before, ...shown]).to.deep.equal(rows)
      }),
    )
  })
})

describe('buckets of the overview', () => {
  const bucketRows = (chosen: (typeof RANGES)[number], now: number): fc.Arbitrary<BucketRow[]> => {
    const period = periodOf(chosen, now)
    const apiMs = period.bucket === 'hour' ? HOUR_MS : 24 * HOUR_MS
    const place = fc.nat((period.until - period.comparedSince) / apiMs - 1)
    return fc.array(
      fc
        .tuple(countedRow, place)
        .map(([row, at]) => ({ ...row, bucket: new Date(period.comparedSince + at * apiMs).toISOString() })),
    )
  }

  it('are all there, and add up to the rows of the period', () => {
    fc.assert(
      fc.property(
        fc
          .tuple(range, time)
          .chain(([chosen, now]) => fc.tuple(fc.constant([chosen, now] as const), bucketRows(chosen, now))),
        ([[chosen, now], rows]) => {
          const period = periodOf(chosen, now)
          const buckets = fillBuckets(rows, period)
          const sum = sumRows(partsOf(rows, period).shown)
          expect(buckets).to.have.length(period.count)
          for (const name of ['started', 'approved', 'messages', 'refused'] as const)
            expect(buckets.reduce((all, bucket) => all + bucket[name], 0)).to.equal(sum[name])
        },
      ),
    )
  })

  it('of a split add up to the sum of each value, and the largest value is first', () => {
    const value = fc.constantFrom('sms', 'email', 'whatsapp', null)
    fc.assert(
      fc.property(bucketRows('7d', NOW), fc.infiniteStream(value), (rows, values) => {
        const period = periodOf('7d', NOW)
        const split = rows.map(row => ({ ...row, channel: values.next().value as string | null }))
        const parts = splitRows(split, 'channel', period)
        const { started, refused } = sumRows(partsOf(rows, period).shown)
        expect(parts.reduce((all, { sum }) => all + sum.started, 0)).to.equal(started)
        expect(parts.reduce((all, { sum }) => all + sum.refused, 0)).to.equal(refused)
        for (const { buckets, sum } of parts) {
          expect(buckets).to.have.length(period.count)
          expect(buckets.reduce((all, bucket) => all + bucket.started, 0)).to.equal(sum.started)
        }
        const sends = parts.map(({ sum }) => sum.started)
        expect(sends).to.deep.equal([...sends].sort((a, b) => b - a))
      }),
    )
  })
})

describe('the change against the period before', () => {
  it('is in percent for counts', () => {
    expect(compareCounts(112, 100)).to.deep.equal({ direction: 'up', words: '12% more' })
    expect(compareCounts(50, 100)).to.deep.equal({ direction: 'down', words: '50% less' })
    expect(compareCounts(1_001, 1_000).words).to.equal('Under 1% more')
    expect(compareCounts(500, 10).words).to.equal('50 times as many')
    expect(compareCounts(7, 7)).to.deep.equal({ direction: 'same', words: 'As before' })
    expect(compareCounts(7, 0)).to.deep.equal({ direction: 'up', words: 'None before' })
    expect(compareCounts(0, 7)).to.deep.equal({ direction: 'down', words: '100% less' })
    expect(compareCounts(0, 0).direction).to.equal(null)
  })

  it('is in points for shares and in seconds for times', () => {
    expect(compareShares(0.81, 0.78)).to.deep.equal({ direction: 'up', words: '3 points higher', isSlight: false })
    expect(compareShares(0.77, 0.78)).to.include({ direction: 'down', words: '1 point lower' })
    expect(compareShares(0.7751, 0.78)).to.include({ isSlight: true })
    expect(compareShares(null, 0.5).direction).to.equal(null)
    // Half of the smallest shown step, in both directions.
    expect(compareShares(0.0009, 0.0004).direction).to.equal('up')
    expect(compareShares(0.0004, 0.0009).direction).to.equal('down')
    expect(compareSeconds(20, 23)).to.deep.equal({ direction: 'down', words: '3 s faster' })
    expect(compareSeconds(90, 20).words).to.equal('1 min 10 s slower')
    expect(compareSeconds(20, null).direction).to.equal(null)
  })

  it('turns round when both are exchanged', () => {
    const opposite = { up: 'down', down: 'up', same: 'same' } as const
    const isTurned = (a: { direction: keyof typeof opposite | null }, b: { direction: string | null }) =>
      expect(b.direction).to.equal(a.direction === null ? null : opposite[a.direction])
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(10_000), (a, b) => {
        isTurned(compareCounts(a, b), compareCounts(b, a))
        isTurned(compareShares(a / 10_000, b / 10_000), compareShares(b / 10_000, a / 10_000))
        isTurned(compareSeconds(a, b), compareSeconds(b, a))
      }),
    )
  })
})
