// The beta distribution: what approved and missed messages say about a conversion. It is used on a grid of equal cells, so that chances and
// intervals come out the same on every machine, without drawing. Pure.
import type { Evidence } from './routes.ts'

export interface Beta {
  alpha: number
  beta: number
}

const CELLS = 200
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

/** The part of the distribution that is in each of the cells between `from` and `to`, when `less` was taken off its values. Values outside
 *  0 to 1 get nothing. */
function massIn(from: number, to: number, { alpha, beta }: Beta, less = 0): number[] {
  const mass: number[] = []
  let highest = Number.NEGATIVE_INFINITY
  for (let cell = 0; cell < CELLS; cell += 1) {
    const x = from + ((to - from) * (cell + 0.5)) / CELLS + less
    const log = x <= 0 || x >= 1 ? Number.NEGATIVE_INFINITY : (alpha - 1) * Math.log(x) + (beta - 1) * Math.log1p(-x)
    highest = Math.max(highest, log)
    mass.push(log)
  }
  if (highest === Number.NEGATIVE_INFINITY) {
    // The whole distribution lies between the middles of two cells.
    const whole = Math.floor(((meanOf({ alpha, beta }) - less - from) / (to - from)) * CELLS)
    return mass.map((_, cell) => (cell === whole ? 1 : 0))
  }
  let sum = 0
  for (let cell = 0; cell < CELLS; cell += 1) {
    const weight = Math.exp((mass[cell] ?? 0) - highest)
    mass[cell] = weight
    sum += weight
  }
  return mass.map(weight => weight / sum)
}

/** The values below which these shares of the distribution lie. */
export function quantilesOf(distribution: Beta, shares: readonly number[]): number[] {
  const { from, to } = rangeOf(distribution)
  const mass = massIn(from, to, distribution)
  return shares.map(share => {
    let sum = 0
    const cell = mass.findIndex(part => {
      sum += part
      return sum >= share
    })
    const part = mass[cell]
    return part === undefined ? to : from + ((to - from) * (cell + 1 - (sum - share) / part)) / CELLS
  })
}

/** The chance of each to be the highest, when `less` is taken off its value, or nothing. The chances add up to 1. */
export function chancesToBeHighest(values: readonly { distribution: Beta; less: number | null }[]): number[] {
  const all = values.map(({ distribution, less }) => ({ distribution, less: less ?? 0 }))
  const from = Math.min(...all.map(({ distribution, less }) => rangeOf(distribution).from - less))
  const to = Math.max(...all.map(({ distribution, less }) => rangeOf(distribution).to - less))
  const masses = all.map(({ distribution, less }) => massIn(from, to, distribution, less))
  const below = masses.map(belowCells)
  const chances = masses.map((mass, one) =>
    mass.reduce((chance, part, cell) => {
      let product = part
      for (let other = 0; other < below.length; other += 1) if (other !== one) product *= below[other]?.[cell] ?? 0
      return chance + product
    }, 0),
  )
  const sum = chances.reduce((total, chance) => total + chance, 0)
  return chances.map(chance => chance / sum)
}

/** The part of a distribution that is below the middle of each cell. */
function belowCells(mass: readonly number[]): number[] {
  let sum = 0
  return mass.map(part => {
    sum += part
    return sum - part / 2
  })
}
