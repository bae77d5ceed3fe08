// Statistics by channel, country or provider. In: rows of the API, which has them where something was counted. Out: for each value its
// figures in every bucket that is shown, also where nothing was counted, and their sum; the value with most sends comes first.
import type { Schemas } from '../../api/schema.ts'
import { channelName } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { type CountedRow, type Figures, sumRows } from './figures.ts'
import { type Period, partsOf } from './period.ts'

export type Dimension = Schemas['StatsDimension']

export const DIMENSION_NAMES: Readonly<Record<Dimension, string>> = {
  channel: 'Channel',
  country: 'Country',
  provider: 'Provider',
}

export const DIMENSIONS = Object.keys(DIMENSION_NAMES) as Dimension[]

export type BucketRow = CountedRow & { bucket: string }
export type SplitRow = BucketRow & { [dimension in Dimension]?: string | null }

export interface SplitPart {
  /** As in the API; null where there is none. */
  value: string | null
  name: string
  /** One for each bucket. */
  buckets: Figures[]
  sum: Figures
}

/** Where the API has summed up values of which there are too many. */
const REST = '*'

export function nameOfValue(by: Dimension, value: string | null): string {
  // Refused sends alone: they were refused before these were chosen.
  if (value === null) return `No ${by}`
  if (value === REST) return 'All others'
  if (by === 'channel') return channelName(value)
  return by === 'country' ? countryName(value) : value
}

/** The figures of each bucket that is shown. Rows of other times are left out. */
export function fillBuckets(rows: readonly BucketRow[], { since, bucketMs, count }: Period): Figures[] {
  const rowsOf: BucketRow[][] = Array.from({ length: count }, () => [])
  for (const row of rows) rowsOf[Math.floor((Date.parse(row.bucket) - since) / bucketMs)]?.push(row)
  return rowsOf.map(sumRows)
}

export function splitRows(rows: readonly SplitRow[], by: Dimension, period: Period): SplitPart[] {
  const rowsOf = new Map<string | null, SplitRow[]>()
  for (const row of partsOf(rows, period).shown) {
    const value = row[by] ?? null
    const own = rowsOf.get(value)
    if (own) own.push(row)
    else rowsOf.set(value, [row])
  }
  const parts = [...rowsOf].map(([value, own]) => ({
    value,
    name: nameOfValue(by, value),
    buckets: fillBuckets(own, period),
    sum: sumRows(own),
  }))
  return parts.sort(
    (a, b) => b.sum.started - a.sum.started || b.sum.refused - a.sum.refused || (a.name < b.name ? -1 : 1),
  )
}
