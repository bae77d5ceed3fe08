// Draws with uPlot. In: the times and the series of a chart, and the colours of the page. Out: a plot in an element. uPlot sets styles
// through the CSSOM, which the Content-Security-Policy allows.
import uPlot from 'uplot'
import { axisSteps, type ChartTimes, formatAxisTime, timeZoneOf } from './chart-times.ts'
import 'uplot/dist/uPlot.min.css'

export interface ChartSeries {
  name: string
  /** One for each bucket; null where there is none. */
  values: readonly (number | null)[]
  /** What is said of the whole period, shown beside the name. */
  summary?: string
}

/** `lines`: each series has a colour and a dash pattern of its own. `part of whole`: bars of the first series as outlines, filled up to the
 *  second, which is a part of the first. */
export type ChartKind = 'lines' | 'part of whole'

export interface PlotOptions {
  kind: ChartKind
  times: ChartTimes
  series: readonly ChartSeries[]
  /** Values between 0 and 1, whose axis may begin above 0 so that small changes are seen. Other axes begin at 0. */
  isShare?: boolean | undefined
  /** Values that grow until their bucket is over: a line leaves out the last one, because it would seem to fall. */
  growing?: boolean | undefined
  /** No names between whole numbers. */
  whole?: boolean | undefined
  formatAxis(value: number): string
  /** Called with the place of the bucket under the pointer, or null. */
  onPoint(place: number | null): void
}

/** As the browser computes them for this page. */
export interface PlotColors {
  text: string
  grid: string
  /** Behind the first of two bars. */
  whole: string
  series: string[]
}

/** The lengths of dashes and gaps, by the place of the series. They tell lines apart without their colours. */
export const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [12, 4, 2, 4], [5, 2]]

export const PLOT_HEIGHT = 220
const FONT = '12px system-ui, sans-serif'
/** Lines with fewer values show a point at each: a value between two gaps would not be seen. */
const MAX_POINTS = 40
/** All charts of a page show the same bucket at once. */
const POINTER_GROUP = 'charts'

export function createPlot(element: HTMLElement, options: PlotOptions, colors: PlotColors): uPlot {
  const { kind, times, isShare = false, whole = false, formatAxis, onPoint } = options
  const half = times.bucketMs / 2_000
  const timeZone = timeZoneOf(times)
  const axisTime = formatAxisTime(times)
  const axis = {
    stroke: colors.text,
    font: FONT,
    grid: { stroke: colors.grid, width: 1 },
    ticks: { show: false },
  }
  return new uPlot(
    {
      width: element.clientWidth,
      height: PLOT_HEIGHT,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      // Days are in UTC, and so are the names on their axis.
      ...(timeZone === undefined ? {} : { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1_000), 'Etc/UTC') }),
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { show: kind === 'lines', size: 7 },
        sync: { key: POINTER_GROUP },
      },
      scales: {
        // A value stands in the middle of its bucket.
        x: { time: true, range: (_, first, last) => [first - half, last + half] },
        y: { range: (_, lowest, highest) => (isShare ? shareRange(lowest) : [0, endOf(highest, whole)]) },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          incrs: axisSteps(times),
          // The name of a day stands below the middle of the day, and that of an hour where it begins.
          ...(timeZone === undefined
            ? {}
            : { splits: (_: uPlot, __: number, ___: number, ____: number, step: number) => middleOfDays(times, step) }),
          values: (_, splits) => splits.map(at => (isNearEnd(at * 1_000, times) ? '' : axisTime(at * 1_000))),
          size: 34,
          gap: 9,
          space: 54,
        },
        {
          ...axis,
          ...(whole ? { incrs: WHOLE_STEPS } : {}),
          values: (_, splits) => splits.map(value => formatAxis(value)),
          size: 52,
          gap: 6,
        },
      ],
      series: [{}, ...options.series.map((one, place) => drawnSeries(kind, one, place, colors))],
      hooks: { setCursor: [plot => onPoint(plot.cursor.idx ?? null)] },
    },
    plotData(options),
    element,
  )
}

/** There a name would be cut off. */
const isNearEnd = (at: number, { starts, bucketMs }: ChartTimes): boolean =>
  at > (starts[0] ?? 0) + starts.length * bucketMs * 0.94

/** Every so many seconds. */
const middleOfDays = ({ starts, bucketMs }: ChartTimes, step: number): number[] =>
  starts
    .filter((_, place) => place % Math.max(1, Math.round((step * 1_000) / bucketMs)) === 0)
    .map(start => (start + bucketMs / 2) / 1_000)

const WHOLE_STEPS = [1, 2, 5].flatMap(step => [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].map(scale => step * scale))
WHOLE_STEPS.sort((a, b) => a - b)

/** A little above the highest value. Without any value there still is an axis. */
const endOf = (highest: number | null, whole: boolean): number =>
  highest === null || highest <= 0 ? (whole ? 4 : 1) : highest * 1.08

/** A fifth at least, so that a small change does not look like a large one. */
function shareRange(lowest: number | null): [number, number] {
  const start = Math.floor(((lowest ?? 0) - 0.05) * 10) / 10
  return [Math.min(0.8, Math.max(0, start)), 1]
}

function drawnSeries(kind: ChartKind, { values }: ChartSeries, place: number, colors: PlotColors): uPlot.Series {
  const color = colors.series[place] ?? colors.text
  if (kind === 'part of whole') {
    const paths = uPlot.paths.bars?.({ size: [0.72, 36] })
    return {
      stroke: color,
      width: 1,
      fill: place === 0 ? colors.whole : color,
      points: { show: false },
      ...(paths ? { paths } : {}),
    }
  }
  const known = values.filter(value => value !== null).length
  return {
    stroke: color,
    width: 2,
    dash: [...(DASHES[place] ?? [])],
    spanGaps: true,
    points: { show: known <= MAX_POINTS, size: 5, fill: color },
  }
}

export const plotData = ({
  kind,
  times,
  series,
  growing = false,
}: Pick<PlotOptions, 'kind' | 'times' | 'series' | 'growing'>): uPlot.AlignedData => {
  const starts = times.starts.map(start => (start + times.bucketMs / 2) / 1_000)
  // Where there is nothing else, the last bucket is better than nothing.
  const hasOthers = series.some(({ values }) => values.slice(0, -1).some(Boolean))
  const isCut = growing && kind === 'lines' && hasOthers
  return [starts, ...series.map(({ values }) => (isCut ? [...values.slice(0, -1), null] : [...values]))]
}
