// The rows of a statistic. In: stored hours or days of one app. Out: without a dimension one row for each bucket, also for one without
// traffic, so that a chart has no gaps; with a dimension one row for each bucket and value that have a count.

import { isoTime } from '../../../infra/iso-time.ts'
import { groupBy } from '../../../machines/group-by.ts'
import { medianSeconds } from '../../domain/stats/approval-times.ts'
import type { Dimension } from '../../domain/stats/contribution.ts'
import { addStoredCells, type Cell, type Count, countOf, NONE, newCell } from '../../domain/stats/counts.ts'
import type { StatsDoc } from '../../domain/stats/documents.ts'
import type { StatsRowAnswer } from './schemas.ts'

export interface RowOptions {
  by: Dimension | undefined
  /** Where another page ended. */
  after?: RowPlace | undefined
  bucketMs: number
  from: number
  to: number
}

/** Where a row stands. */
export interface RowPlace {
  bucket: string
  value: string
}

interface Sum {
  cell: Cell
  refused: number
  spend: number
}

/** The dimension with the fewest values: the sum of its rows is the sum of all. */
const SMALLEST: Dimension = 'channel'
const TOTAL = ''

/** When the hour or day of a time began. */
export const bucketStart = (at: number, ms: number): number => at - (at % ms)

export function* statsRows(
  docs: readonly StatsDoc[],
  { by, after, bucketMs, from, to }: RowOptions,
): Generator<StatsRowAnswer> {
  const docsByStart = groupBy(docs, doc => bucketStart(doc.start, bucketMs))
  // The sums are used again for each bucket: making new ones takes longer than all the rest of a large query.
  const sums = new Map<string, Sum>()
  let values: string[] = []
  for (let start = from; start < to; start += bucketMs) {
    const found = docsByStart.get(start)
    const iso = isoTime(start)
    if ((found === undefined && by !== undefined) || (after !== undefined && iso < after.bucket)) continue
    for (const sum of sums.values()) clear(sum)
    for (const doc of found ?? []) addDoc(sums, doc, by)
    if (by === undefined) {
      if (iso !== after?.bucket) yield totalRow(iso, sums.get(TOTAL) ?? newSum())
      continue
    }
    if (values.length !== sums.size) values = [...sums.keys()].sort(compareValues)
    for (const value of values) {
      const sum = sums.get(value)
      const isShown = iso !== after?.bucket || compareValues(value, after.value) > 0
      if (isShown && sum && hasCounts(sum)) yield rowOf(iso, by, value === NONE ? null : value, sum)
    }
  }
}

export const placeOf = (row: StatsRowAnswer, by: Dimension | undefined): RowPlace => ({
  bucket: row.bucket,
  value: by === undefined ? TOTAL : (row[by] ?? NONE),
})

const newSum = (): Sum => ({ cell: newCell(), refused: 0, spend: 0 })

function clear(sum: Sum): void {
  sum.cell.counts.fill(0)
  sum.cell.approvals.length = 0
  sum.refused = 0
  sum.spend = 0
}

const hasCounts = ({ cell, refused, spend }: Sum): boolean => refused > 0 || spend !== 0 || cell.counts.some(isPositive)
const isPositive = (count: number): boolean => count > 0

function addDoc(sums: Map<string, Sum>, doc: StatsDoc, by: Dimension | undefined): void {
  addStoredCells(doc.by[by ?? SMALLEST] ?? '', value => sumOf(sums, by === undefined ? TOTAL : value).cell)
  for (const country of Object.keys(doc.refused))
    sumOf(sums, by === undefined ? TOTAL : by === 'country' ? country : NONE).refused += doc.refused[country] ?? 0
  const spend = by === 'provider' ? {} : (doc.spend?.[by ?? 'channel'] ?? {})
  for (const value of Object.keys(spend)) sumOf(sums, by === undefined ? TOTAL : value).spend += spend[value] ?? 0
}

function sumOf(sums: Map<string, Sum>, value: string): Sum {
  const found = sums.get(value)
  if (found) return found
  const sum = newSum()
  sums.set(value, sum)
  return sum
}

/** By name; those without a value come last. */
const compareValues = (a: string, b: string): number =>
  Number(a === NONE) - Number(b === NONE) || (a < b ? -1 : a > b ? 1 : 0)

const totalRow = (bucket: string, sum: Sum): StatsRowAnswer => {
  const { channel: _, ...row } = rowOf(bucket, 'channel', null, sum)
  return row
}

function rowOf(bucket: string, by: Dimension, value: string | null, { cell, refused, spend }: Sum): StatsRowAnswer {
  const started = countIn(cell, 'started')
  const approved = countIn(cell, 'approved')
  const sent = countIn(cell, 'sent')
  const delivered = countIn(cell, 'delivered')
  const undelivered = countIn(cell, 'undelivered')
  return {
    bucket,
    [by]: value,
    started,
    sent,
    queued: countIn(cell, 'queued'),
    without_receipt: Math.max(0, sent - delivered - undelivered),
    delivered,
    messages_failed: countIn(cell, 'unsent') + undelivered,
    approved,
    failed: countIn(cell, 'failed'),
    expired: countIn(cell, 'expired'),
    refused,
    spend_micros: by === 'provider' ? null : spend,
    conversion: started > 0 ? approved / started : null,
    seconds_to_approve_p50: medianSeconds(cell.approvals),
  }
}

/** One process may have stored the end of a verification before another has stored its start, so a count may be negative for a moment. */
const countIn = (cell: Cell, name: Count): number => Math.max(0, countOf(cell, name))
