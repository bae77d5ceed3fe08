// The rows of a statistic. In: stored hours or days of one app. Out: without a dimension one row for each bucket, also for one without
// traffic, so that a chart has no gaps; with a dimension one row for each bucket and value that have a count.
import { medianSeconds } from '../../domain/stats/approval-times.ts'
import { addStoredCell, type Cell, type Count, countOf, NONE, newCell } from '../../domain/stats/cells.ts'
import type { Dimension } from '../../domain/stats/contribution.ts'
import type { StatsDoc } from '../../domain/stats/documents.ts'
import { isoTime } from '../iso-time.ts'

export interface RowOptions {
  by: Dimension | undefined
  bucket: { ms: number; startOf(at: number): number }
  from: number
  to: number
}

/** By channel, country or provider: its value, null where there is none. */
export type StatsRow = { bucket: string } & { [dimension in Dimension]?: string | null } & Record<Count, number> & {
    refused: number
    conversion: number | null
    seconds_to_approve_p50: number | null
  }

interface Sum {
  cell: Cell
  refused: number
}

/** The dimension with the fewest values: the sum of its rows is the sum of all. */
const SMALLEST: Dimension = 'channel'
const TOTAL = ''

export function statsRows(docs: readonly StatsDoc[], { by, bucket, from, to }: RowOptions): StatsRow[] {
  const buckets = new Map<number, Map<string, Sum>>()
  for (const doc of docs) addDoc(sumsOf(buckets, bucket.startOf(doc.start)), doc, by)
  const starts = by === undefined ? everyStart(from, to, bucket.ms) : [...buckets.keys()].sort((a, b) => a - b)
  return starts.flatMap(start => {
    const iso = isoTime(start)
    const sums = buckets.get(start)
    if (by === undefined) return [row(iso, undefined, TOTAL, sums?.get(TOTAL) ?? newSum())]
    return [...(sums ?? [])]
      .filter(([, sum]) => sum.refused > 0 || sum.cell.counts.some(count => count > 0))
      .sort(([a], [b]) => compareValues(a, b))
      .map(([value, sum]) => row(iso, by, value, sum))
  })
}

const newSum = (): Sum => ({ cell: newCell(), refused: 0 })

function sumsOf(buckets: Map<number, Map<string, Sum>>, start: number): Map<string, Sum> {
  const found = buckets.get(start)
  if (found) return found
  const sums = new Map<string, Sum>()
  buckets.set(start, sums)
  return sums
}

function addDoc(sums: Map<string, Sum>, doc: StatsDoc, by: Dimension | undefined): void {
  for (const [value, text] of Object.entries(doc.by[by ?? SMALLEST]))
    addStoredCell(sumOf(sums, by === undefined ? TOTAL : value).cell, text)
  for (const [country, count] of Object.entries(doc.refused))
    sumOf(sums, by === undefined ? TOTAL : by === 'country' ? country : NONE).refused += count
}

function sumOf(sums: Map<string, Sum>, value: string): Sum {
  const found = sums.get(value)
  if (found) return found
  const sum = newSum()
  sums.set(value, sum)
  return sum
}

const everyStart = (from: number, to: number, ms: number): number[] =>
  Array.from({ length: (to - from) / ms }, (_, at) => from + at * ms)

/** By name; those without a value come last. */
const compareValues = (a: string, b: string): number =>
  Number(a === NONE) - Number(b === NONE) || (a < b ? -1 : a > b ? 1 : 0)

function row(bucket: string, by: Dimension | undefined, value: string, { cell, refused }: Sum): StatsRow {
  // One process may have stored the end of a verification before another has stored its start.
  const count = (name: Count): number => Math.max(0, countOf(cell, name))
  const [started, approved] = [count('started'), count('approved')]
  return {
    bucket,
    ...(by === undefined ? {} : { [by]: value === NONE ? null : value }),
    started,
    sent: count('sent'),
    delivered: count('delivered'),
    approved,
    failed: count('failed'),
    expired: count('expired'),
    refused,
    conversion: started > 0 ? approved / started : null,
    seconds_to_approve_p50: medianSeconds(cell.approvals),
  }
}
