// The beta distribution: what approved and missed messages say about a conversion. It is used on a grid of equal cells, so that chances and
// intervals come out the same on every machine, without drawing. Pure.
import type { Evidence } from './routes.ts'

export interface Beta {
  alpha: number
  beta: number
}

const CELLS = 400
/** Without any evidence the distribution would not exist. */
const MIN_WEIGHT = 0.01

export const betaOf = (evidence: Evidence, prior: Evidence): Beta => ({
  alpha: Math.max(MIN_WEIGHT, evidence.approved + prior.approved),
  beta: Math.max(MIN_WEIGHT, evidence.missed + prior.missed),
})

export const meanOf = ({ alpha, beta }: Beta): number => alpha / (alpha + beta)

/** The stretch that holds nearly all of the distribution. */
function rangeOf(distribution: Beta): { from: number; to: number } {
  const mean = meanOf(distribution)
  const deviation = Math.sqrt((mean * (1 - mean)) / (distribution.alpha + distribution.beta + 1))
  return { from: Math.max(0, mean - 8 * deviation), to: Math.min(1, mean + 8 * deviation) }
}

/** The middles of equal cells. */
const gridOf = (from: number, to: number): number[] =>
  Array.from({ length: CELLS }, (_, nth) => from + ((to - from) * (nth + 0.5)) / CELLS)

/** The part of the distribution that is in each cell. Points outside 0 to 1 get nothing. */
function massOn(points: readonly number[], { alpha, beta }: Beta): number[] {
  const logs = points.map(x =>
    x <= 0 || x >= 1 ? Number.NEGATIVE_INFINITY : (alpha - 1) * Math.log(x) + (beta - 1) * Math.log1p(-x),
  )
  const highest = Math.max(...logs)
  const weights = logs.map(log => Math.exp(log - highest))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map(weight => weight / sum)
}

/** The values below which these shares of the distribution lie, ascending. */
export function quantilesOf(distribution: Beta, shares: readonly number[]): number[] {
  const { from, to } = rangeOf(distribution)
  const mass = massOn(gridOf(from, to), distribution)
  return shares.map(share => {
    let sum = 0
    for (const [nth, part] of mass.entries()) {
      if (sum + part >= share) return from + ((to - from) * (nth + (share - sum) / part)) / CELLS
      sum += part
    }
    return to
  })
}

/** The chance of each to be the highest, when `less` is taken off its value. The chances add up to 1. */
export function chancesToBeHighest(all: readonly { distribution: Beta; less: number }[]): number[] {
  const ranges = all.map(({ distribution, less }) => {
    const { from, to } = rangeOf(distribution)
    return { from: from - less, to: to - less }
  })
  const points = gridOf(Math.min(...ranges.map(({ from }) => from)), Math.max(...ranges.map(({ to }) => to)))
  const masses = all.map(({ distribution, less }) =>
    massOn(
      points.map(point => point + less),
      distribution,
    ),
  )
  const below = masses.map(mass => {
    let sum = 0
    return mass.map(part => {
      sum += part
      return sum - part / 2
    })
  })
  const chances = masses.map((mass, one) =>
    mass.reduce(
      (chance, part, cell) =>
        chance + below.reduce((product, other, nth) => (nth === one ? product : product * (other[cell] ?? 0)), part),
      0,
    ),
  )
  const sum = chances.reduce((total, chance) => total + chance, 0)
  return chances.map(chance => chance / sum)
}
