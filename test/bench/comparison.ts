// Compares two systems under the same load, in alternating rounds, so that other work on the machine affects both. Prints the median of
// each, and the ratio of the product to the baseline.
import type { Figures } from './load.ts'
import { alternating, quantile } from './measure.ts'
import { print } from './report.ts'

/** The aims for the ratio of the product to the baseline. */
interface Aims {
  minRatio: number
  maxP99Ratio: number
}

export interface Comparison {
  what: string
  rounds: number
  aims?: Aims
  product: { name: string; round(): Promise<Figures> }
  baseline: { name: string; round(): Promise<Figures> }
}

export async function runComparison({ what, rounds, aims, product, baseline }: Comparison): Promise<void> {
  // The first rounds are not counted, because a process that has just started is still compiling its code.
  for (const { round } of [baseline, product]) await round()
  const figures = await alternating({ baseline: baseline.round, product: product.round }, rounds)
  const [ours, theirs] = [median(figures.product), median(figures.baseline)]
  print({
    what,
    unit: 'per second',
    baseline: { name: baseline.name, value: theirs.perSecond, note: spread(figures.baseline) },
    variants: [{ name: product.name, value: ours.perSecond, note: spread(figures.product) }],
    ...(aims && {
      aim: { says: `≥ ${aims.minRatio}`, holds: (_: number, ratio: number) => ratio >= aims.minRatio },
    }),
  })
  print({
    what: `${what}, p99 (and p50)`,
    unit: 'ms',
    baseline: { name: baseline.name, value: theirs.p99, note: `p50 ${theirs.p50.toFixed(1)} ms` },
    variants: [{ name: product.name, value: ours.p99, note: `p50 ${ours.p50.toFixed(1)} ms` }],
    ...(aims && {
      aim: { says: `≤ ${aims.maxP99Ratio}`, holds: (_: number, ratio: number) => ratio <= aims.maxP99Ratio },
    }),
  })
  if (ours.deliveredAfterMs > 0)
    console.log(`    (the last message was delivered ${Math.round(ours.deliveredAfterMs)} ms after the last answer)`)
}

const median = (all: readonly Figures[]): Figures => {
  const of = (member: keyof Figures): number =>
    quantile(
      all.map(figures => figures[member]),
      0.5,
    )
  return { perSecond: of('perSecond'), p50: of('p50'), p99: of('p99'), deliveredAfterMs: of('deliveredAfterMs') }
}

const spread = (all: readonly Figures[]): string => {
  const rates = all.map(({ perSecond }) => Math.round(perSecond))
  return `${Math.min(...rates).toLocaleString('en')}–${Math.max(...rates).toLocaleString('en')}`
}
