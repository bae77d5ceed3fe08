// Two systems under the same load, round by round in turn; what is told is the median of each, and how the first compares to the
// second. What else happens on the machine hits both.
import type { Figures } from './load.ts'
import { alternating, quantile } from './measure.ts'
import { print } from './report.ts'

/** What the first should be to the second. */
export interface Aims {
  leastShare: number
  mostTimesP99: number
}

export interface Contest {
  what: string
  rounds: number
  aims?: Aims
  product: { name: string; round(): Promise<Figures> }
  yardstick: { name: string; round(): Promise<Figures> }
}

export async function runContest({ what, rounds, aims, product, yardstick }: Contest): Promise<void> {
  // A process that has just started is still compiling its code.
  for (const { round } of [yardstick, product]) await round()
  const figures = await alternating({ yardstick: yardstick.round, product: product.round }, rounds)
  const [ours, theirs] = [median(figures.product), median(figures.yardstick)]
  print({
    what,
    unit: 'per second',
    baseline: { name: yardstick.name, value: theirs.perSecond, note: spread(figures.yardstick) },
    variants: [{ name: product.name, value: ours.perSecond, note: spread(figures.product) }],
    ...(aims && {
      aim: { says: `≥ ${aims.leastShare}`, holds: (_: number, ratio: number) => ratio >= aims.leastShare },
    }),
  })
  print({
    what: `${what}, p99 (and p50)`,
    unit: 'ms',
    baseline: { name: yardstick.name, value: theirs.p99, note: `p50 ${theirs.p50.toFixed(1)} ms` },
    variants: [{ name: product.name, value: ours.p99, note: `p50 ${ours.p50.toFixed(1)} ms` }],
    ...(aims && {
      aim: { says: `≤ ${aims.mostTimesP99}`, holds: (_: number, ratio: number) => ratio <= aims.mostTimesP99 },
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
