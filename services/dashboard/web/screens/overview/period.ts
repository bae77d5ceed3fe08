// The times that the overview asks for and draws. In: the chosen range and the time. Out: the buckets that are shown, and the time from
// which the period before them is read.
import { DAY_MS, HOUR_MS } from '../../../../../infra/time.ts'

export const RANGES = ['24h', '7d', '30d'] as const
export type Range = (typeof RANGES)[number]

export interface Period {
  /** What the API is asked for. */
  bucket: 'hour' | 'day'
  /** How long a bucket is that is shown: a multiple of those that the API answers. */
  bucketMs: number
  /** How many buckets are shown. The last one is that of now, which is not over yet. */
  count: number
  /** When the first bucket that is shown begins. */
  since: number
  /** When the first bucket begins that those shown are compared with. */
  comparedSince: number
  /** When the last bucket ends. */
  until: number
}

const BUCKETS: Readonly<Record<Range, Pick<Period, 'bucket' | 'bucketMs' | 'count'>>> = {
  '24h': { bucket: 'hour', bucketMs: HOUR_MS, count: 24 },
  // The API has hours and days. Lines of 168 hours are mostly noise, and 7 days are no line.
  '7d': { bucket: 'hour', bucketMs: 6 * HOUR_MS, count: 28 },
  // The API keeps hours for 40 days, which is too short for the period before.
  '30d': { bucket: 'day', bucketMs: DAY_MS, count: 30 },
}

export function periodOf(range: Range, now: number): Period {
  const { bucket, bucketMs, count } = BUCKETS[range]
  const until = now - (now % bucketMs) + bucketMs
  const since = until - count * bucketMs
  // One bucket less: only those that are over are compared.
  return { bucket, bucketMs, count, since, comparedSince: since - (count - 1) * bucketMs, until }
}

/** When each bucket begins that is shown, oldest first. */
export const startsOf = ({ since, bucketMs, count }: Period): number[] =>
  Array.from({ length: count }, (_, place) => since + place * bucketMs)

/** The rows in three parts. `shown`: of the period. `over`: those of its buckets that are over. `before`: of as many
 *  buckets just before. */
export function partsOf<Row extends { bucket: string }>(rows: readonly Row[], period: Period) {
  const { comparedSince, since, until, bucketMs } = period
  const within = (from: number, to: number) =>
    rows.filter(({ bucket }) => Date.parse(bucket) >= from && Date.parse(bucket) < to)
  return {
    shown: within(since, until),
    over: within(since, until - bucketMs),
    before: within(comparedSince, since),
  }
}
