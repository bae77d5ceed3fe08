// How a figure has changed against the period before. In: both. Out: the direction, and words such as "12% more".
import { formatCount, formatDecimal, formatSeconds, formatWholeShare } from '../../ui/figure-format.ts'

export interface Comparison {
  /** Null where there is nothing to compare with. */
  direction: 'up' | 'down' | 'same' | null
  /** Empty where there is nothing to compare with. */
  words: string
  /** Too little to be called good or bad. */
  isSlight?: boolean
}

const NOTHING: Comparison = { direction: null, words: '' }
const SAME: Comparison = { direction: 'same', words: 'As before' }
/** From this factor on, a percentage says less than the factor. */
const MIN_FACTOR = 10

export function compareCounts(now: number, before: number): Comparison {
  if (now === before) return now === 0 ? NOTHING : SAME
  if (before === 0) return { direction: 'up', words: 'None before' }
  const change = now / before - 1
  if (now / before >= MIN_FACTOR) return { direction: 'up', words: `${formatCount(now / before)} times as many` }
  const percent = Math.abs(change) < 0.01 ? `Under ${formatWholeShare(0.01)}` : formatWholeShare(Math.abs(change))
  return change > 0 ? { direction: 'up', words: `${percent} more` } : { direction: 'down', words: `${percent} less` }
}

/** A rise is rounded as a fall of the same size is: `Math.round` rounds halves up, so −0.5 to 0. */
const roundAlike = (change: number): number => Math.sign(change) * Math.round(Math.abs(change))

/** In percentage points. */
export function compareShares(now: number | null, before: number | null): Comparison {
  if (now === null || before === null) return NOTHING
  const points = roundAlike((now - before) * 1_000) / 10
  if (points === 0) return SAME
  const words = `${formatDecimal(Math.abs(points))} ${Math.abs(points) === 1 ? 'point' : 'points'}`
  const isSlight = Math.abs(points) < 1
  return points > 0
    ? { direction: 'up', words: `${words} higher`, isSlight }
    : { direction: 'down', words: `${words} lower`, isSlight }
}

export function compareSeconds(now: number | null, before: number | null): Comparison {
  if (now === null || before === null) return NOTHING
  const difference = roundAlike(now - before)
  if (difference === 0) return SAME
  const words = formatSeconds(Math.abs(difference))
  return difference > 0
    ? { direction: 'up', words: `${words} slower` }
    : { direction: 'down', words: `${words} faster` }
}
