// The charts of the overview. Without a split: sends with the approved part of them, conversion, delivery rate and time to approval. With
// one: the same as a line for each of the largest values.
import { Chart, type ChartProps } from '../../ui/chart.tsx'
import type { ChartSeries } from '../../ui/chart-plot.ts'
import { type ChartTimes, formatBucket } from '../../ui/chart-times.ts'
import {
  countOf,
  formatCompact,
  formatCount,
  formatSeconds,
  formatShare,
  formatWholeShare,
} from '../../ui/figure-format.ts'
import type { Figures } from './figures.ts'
import type { Dimension, SplitPart } from './split.ts'

/** More lines cannot be told apart. */
const MAX_LINES = 5

export interface ChartsProps {
  times: ChartTimes
  /** "24 hours". */
  range: string
  /** One for each bucket, and their sum. */
  buckets: readonly Figures[]
  sum: Figures
  by: Dimension | null
  parts: readonly SplitPart[]
}

interface Measure extends Omit<ChartProps, 'label' | 'kind' | 'times' | 'series'> {
  of(figures: Figures): number | null
}

const SENDS: Measure = {
  title: 'Sends',
  of: ({ started }) => started,
  format: formatCount,
  formatAxis: formatCompact,
  empty: 'No sends in this period.',
  growing: true,
  whole: true,
}

const APPROVALS: Measure = {
  ...SENDS,
  title: 'Approvals',
  of: ({ approved }) => approved,
  empty: 'No approvals in this period.',
}

const CONVERSION: Measure = {
  title: 'Conversion',
  of: ({ conversion }) => conversion,
  format: formatShare,
  formatAxis: formatWholeShare,
  empty: 'No sends in this period.',
  isShare: true,
}

const DELIVERY: Measure = {
  ...CONVERSION,
  title: 'Delivery rate',
  of: ({ deliveryRate }) => deliveryRate,
  empty: 'No message with a known outcome in this period.',
}

const APPROVAL_TIME: Measure = {
  title: 'Time to approval',
  of: ({ seconds }) => seconds,
  format: formatSeconds,
  formatAxis: formatSeconds,
  empty: 'No approvals in this period.',
  whole: true,
}

export function Charts({ times, range, buckets, sum, by, parts }: ChartsProps) {
  const drawn = parts.filter(isDrawn)
  const lines = by === null ? [{ name: 'All', buckets, sum }] : drawn.slice(0, MAX_LINES)
  const chartOf = (measure: Measure) => (
    <MeasureChart key={measure.title} measure={measure} times={times} range={range} by={by} lines={lines} />
  )
  return (
    <>
      <div class="overview-charts">
        {by === null ? (
          <SendsAndApprovals times={times} range={range} buckets={buckets} sum={sum} />
        ) : (
          <>
            {chartOf(SENDS)}
            {chartOf(APPROVALS)}
          </>
        )}
      </div>
      <div class="overview-charts overview-shares">
        {chartOf(CONVERSION)}
        {chartOf(DELIVERY)}
        {chartOf(APPROVAL_TIME)}
      </div>
      {drawn.length > MAX_LINES && (
        <p class="hint">The charts show the {MAX_LINES} with most sends. The table has all of them.</p>
      )}
    </>
  )
}

/** Refused sends have no channel and no provider: they would be a line at zero. */
const isDrawn = ({ sum }: SplitPart): boolean => sum.started + sum.messages > 0

function SendsAndApprovals({ times, range, buckets, sum }: Pick<ChartsProps, 'times' | 'range' | 'buckets' | 'sum'>) {
  const sends = buckets.map(({ started }) => started)
  const approvals = buckets.map(({ approved }) => approved)
  const told = `The last ${range}: ${countOf(sum.started, 'send')}, ${countOf(sum.approved, 'approval')}.`
  return (
    <Chart
      title="Sends and approvals"
      label={`${told} ${busiest(times, sends)}`}
      kind="part of whole"
      times={times}
      series={[
        { name: 'Sends', values: sends, summary: formatCount(sum.started) },
        { name: 'Approvals', values: approvals, summary: formatCount(sum.approved) },
      ]}
      whole
      format={formatCount}
      formatAxis={formatCompact}
      empty={SENDS.empty}
    />
  )
}

function busiest(times: ChartTimes, counts: readonly number[]): string {
  const most = Math.max(...counts)
  const start = times.starts[counts.indexOf(most)]
  return most > 0 && start !== undefined ? `Most sends: ${formatCount(most)}, ${formatBucket(times)(start)}.` : ''
}

interface MeasureChartProps {
  measure: Measure
  times: ChartTimes
  range: string
  by: Dimension | null
  lines: readonly { name: string; buckets: readonly Figures[]; sum: Figures }[]
}

function MeasureChart({ measure, times, range, by, lines }: MeasureChartProps) {
  const { of, ...drawn } = measure
  const { title, format } = drawn
  const summaryOf = (sum: Figures): string => {
    const value = of(sum)
    return value === null ? 'none' : format(value)
  }
  const named = lines.map(line => ({ ...line, name: by === null ? title : line.name }))
  const series: ChartSeries[] = named.map(({ name, buckets, sum }) => ({
    name,
    values: buckets.map(of),
    summary: summaryOf(sum),
  }))
  return (
    <Chart
      {...drawn}
      label={`${title} in the last ${range}: ${named.map(({ name, sum }) => `${name} ${summaryOf(sum)}`).join(', ')}.`}
      kind="lines"
      times={times}
      series={series}
    />
  )
}
