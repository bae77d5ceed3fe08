// Turns readings into the cost of a send in each round, and into ratios of adjacent rounds. Two systems take turns, ours first, and
// everything is read before each turn. Other work on the machine makes both dearer for a while, so a ratio of neighbours says more than a
// ratio of averages.
import { quantile } from './measure.ts'

/** What was used so far, by name. */
export type Amounts = Record<string, number>

/** Before a turn, and once more after the last. */
export interface Reading {
  /** In milliseconds. */
  at: number
  ours: Amounts
  theirs: Amounts
  /** Engines that both systems use. */
  shared: Amounts
}

/** What one send took. */
export interface Pair {
  ours: Amounts
  theirs: Amounts
}

/** What everything uses in a millisecond without sends. On a busy machine a turn takes long, and this would be most of what it costs. Both
 *  systems get the lower figure of the two: the one that was loaded last may still be busy. */
export function idleRates(before: Reading, after: Reading): Idle {
  const rates = (side: Side): Amounts => each(after.at - before.at, difference(before[side], after[side]))
  const [ours, theirs] = [rates('ours'), rates('theirs')]
  const lower = Object.fromEntries(
    Object.entries(ours).map(([name, rate]) => [name, Math.min(rate, theirs[name] ?? rate)]),
  )
  return { ours: lower, theirs: lower, shared: rates('shared') }
}

type Side = 'ours' | 'theirs' | 'shared'
export type Idle = Record<Side, Amounts>

/** A system's own processes are read from one of its turns to its next, because some work is done after a turn: outboxes are cleared,
 *  counts are written. An engine that both use is read during the turn alone. The last turn, ours, only ends the last pair. */
export function pairsOf(readings: readonly Reading[], sendsPerTurn: number, idle: Idle): Pair[] {
  const pairs: Pair[] = []
  const used = (side: Side, from: Reading, to: Reading) => usedBySends(idle, side, from, to)
  for (let at = 0; at + 3 < readings.length; at += 2) {
    const [first, second, third, fourth] = readings.slice(at, at + 4) as [Reading, Reading, Reading, Reading]
    pairs.push({
      ours: each(sendsPerTurn, used('ours', first, third), used('shared', first, second)),
      theirs: each(sendsPerTurn, used('theirs', second, fourth), used('shared', second, third)),
    })
  }
  return pairs
}

/** Where both systems are used at once. What they take of the engines cannot be told apart then. */
export const pairOf = (before: Reading, after: Reading, sends: number, idle: Idle): Pair => ({
  ours: each(sends, usedBySends(idle, 'ours', before, after)),
  theirs: each(sends, usedBySends(idle, 'theirs', before, after)),
})

function usedBySends(idle: Idle, side: Side, from: Reading, to: Reading): Amounts {
  const used = Object.entries(difference(from[side], to[side]))
  return Object.fromEntries(used.map(([name, amount]) => [name, amount - (idle[side][name] ?? 0) * (to.at - from.at)]))
}

const difference = (before: Amounts, after: Amounts): Amounts =>
  Object.fromEntries(Object.entries(after).map(([name, amount]) => [name, amount - (before[name] ?? 0)]))

const each = (sends: number, ...amounts: Amounts[]): Amounts =>
  Object.fromEntries(amounts.flatMap(some => Object.entries(some).map(([name, amount]) => [name, amount / sends])))

interface Comparison {
  /** Medians. */
  ours: number
  theirs: number
  ratio: number
  /** Quartiles of the ratio. */
  from: number
  to: number
}

export function compare(pairs: readonly Pair[], amountOf: (amounts: Amounts) => number): Comparison {
  const both = pairs.map(({ ours, theirs }) => ({ ours: amountOf(ours), theirs: amountOf(theirs) }))
  const ratios = both.map(({ ours, theirs }) => ours / theirs)
  const median = (side: 'ours' | 'theirs'): number =>
    quantile(
      both.map(one => one[side]),
      0.5,
    )
  return {
    ours: median('ours'),
    theirs: median('theirs'),
    ratio: quantile(ratios, 0.5),
    from: quantile(ratios, 0.25),
    to: quantile(ratios, 0.75),
  }
}
