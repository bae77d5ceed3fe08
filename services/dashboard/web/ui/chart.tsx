// A chart in a card of its own, with a legend that also shows the values under the pointer, and a table of the same numbers behind a
// button. Readers hear one sentence in place of the picture.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { Button } from './button.tsx'
import { Card } from './card.tsx'
import { type ChartKind, type ChartSeries, createPlot, DASHES, type PlotColors, plotData } from './chart-plot.ts'
import { type ChartTimes, formatBucket } from './chart-times.ts'
import { NO_FIGURE } from './figure-format.ts'
import { Table } from './table.tsx'
import { useColorScheme } from './use-color-scheme.ts'
import './chart.css'

export interface ChartProps {
  title: string
  /** Says the essential of the picture in a sentence. */
  label: string
  kind: ChartKind
  times: ChartTimes
  series: readonly ChartSeries[]
  isShare?: boolean
  growing?: boolean
  whole?: boolean
  format(value: number): string
  formatAxis(value: number): string
  /** Said in place of a chart without any value. */
  empty: string
}

export function Chart(props: ChartProps) {
  const { title, series, times, empty } = props
  const [asTable, setAsTable] = useState(false)
  const hasValues = series.some(({ values }) => values.some(value => value !== null))
  return (
    <div class="chart-frame">
      <Card
        title={title}
        actions={
          <Button look="quiet" onClick={() => setAsTable(!asTable)}>
            {asTable ? 'Show as chart' : 'Show as table'}
          </Button>
        }
      >
        {!hasValues ? (
          <p class="chart-empty soft">{empty}</p>
        ) : asTable ? (
          <ChartTable {...props} />
        ) : (
          // Another length of time has other axes.
          <Picture key={`${times.bucketMs} ${times.starts.length}`} {...props} />
        )}
      </Card>
    </div>
  )
}

function ChartTable({ title, times, series, format }: ChartProps) {
  const nameOf = formatBucket(times)
  const places = times.starts.map((_, place) => place).reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section class="chart-table" tabIndex={0} aria-label={`${title}, as a table`}>
      <Table
        caption={title}
        rows={places}
        keyOf={String}
        columns={[
          { name: 'Time', show: (place: number) => nameOf(times.starts[place] ?? 0) },
          ...series.map(({ name, values }) => ({
            name,
            align: 'right' as const,
            show: (place: number) => formatValue(values[place], format),
          })),
        ]}
      />
    </section>
  )
}

const formatValue = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? NO_FIGURE : format(value)

function Picture(props: ChartProps) {
  const { kind, label, times, series, growing, format } = props
  const [place, setPlace] = useState<number | null>(null)
  const scheme = useColorScheme()
  const legend = useRef<HTMLUListElement>(null)
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef(props)
  latest.current = props

  // Series of other names, or more of them, are drawn anew, and all are where the colours of the page change. Other values of
  // the same series only move.
  const drawn = series.map(({ name }) => name).join('\n')
  useLayoutEffect(() => {
    if (!element.current || !legend.current) return
    const made = createPlot(
      element.current,
      { ...latest.current, onPoint: setPlace },
      readColors(element.current, legend.current),
    )
    plot.current = made
    return () => {
      plot.current = null
      made.destroy()
    }
  }, [kind, scheme, drawn])

  useEffect(() => plot.current?.setData(plotData({ kind, times, series, growing })), [kind, times, series, growing])

  useEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0)
      if (plot.current && width > 0 && width !== plot.current.width)
        plot.current.setSize({ width, height: plot.current.height })
    })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])

  const start = place === null ? undefined : times.starts[place]
  return (
    <div class="chart">
      <ul class="chart-legend" ref={legend}>
        {series.map(({ name, values, summary }, nth) => (
          <li key={name}>
            <Swatch kind={kind} nth={nth} />
            {name}
            <span class="chart-value">{place === null ? (summary ?? '') : formatValue(values[place], format)}</span>
          </li>
        ))}
        <li class="chart-when soft" aria-hidden="true">
          {start === undefined ? '' : formatBucket(times)(start)}
          {place === times.starts.length - 1 ? ', so far' : ''}
        </li>
      </ul>
      <div class="chart-plot" ref={element} role="img" aria-label={label} />
    </div>
  )
}

function Swatch({ kind, nth }: { kind: ChartKind; nth: number }) {
  return (
    <svg class={`chart-swatch chart-color-${kind === 'lines' ? nth + 1 : 1}`} aria-hidden="true" width="26" height="12">
      {kind === 'lines' ? (
        <line x1="1" x2="25" y1="6" y2="6" stroke="currentColor" stroke-width="2.5" stroke-dasharray={dashesOf(nth)} />
      ) : (
        <rect
          class={nth === 0 ? 'chart-whole' : ''}
          x="7.5"
          y="0.5"
          width="11"
          height="11"
          fill="currentColor"
          stroke="currentColor"
        />
      )}
    </svg>
  )
}

const dashesOf = (nth: number): string | undefined => DASHES[nth]?.join(' ') || undefined

/** A canvas cannot resolve the page's variables, so the colours are those that the browser has computed for the elements around it. */
function readColors(element: HTMLElement, legend: HTMLElement): PlotColors {
  const { color: text, borderTopColor: grid, outlineColor: whole } = getComputedStyle(element)
  const swatches = [...legend.querySelectorAll('.chart-swatch')]
  return { text, grid, whole, series: swatches.map(swatch => getComputedStyle(swatch).color) }
}
