// A block: the phone numbers that share all but their last four digits and were sent messages within the last hour. In: a block,
// and new entries of its numbers. Out: the block after. Pure. A number counts once, however often it is sent to or verified.
import { HOUR_MS } from '../infra/time.ts'
import type { ConversionCounts } from './fraud.tally.ts'

export interface BlockNumber {
  /** Tells the numbers of a block apart. A part of a keyed index, which reveals nothing of the number. */
  tag: string
  /** The same for all numbers that differ in their last two digits only. A part of another keyed index. */
  hundred: string
  /** When a message was last sent to the number. */
  at: number
  verified: boolean
}

export interface Block {
  numbers: BlockNumber[]
}

export const EMPTY_BLOCK: Block = { numbers: [] }
/** Numbers of a block are neighbours if both were sent to within this time. */
export const BLOCK_WINDOW_MS = HOUR_MS
/** More numbers would not change a judgement: 40 unverified ones already refuse. */
const MAX_NUMBERS_PER_BLOCK = 64

export function addToBlock(block: Block, entries: readonly BlockNumber[], now: number): Block {
  let numbers = block.numbers
  for (const entry of entries) {
    const known = numbers.find(({ tag }) => tag === entry.tag)
    const verified = entry.verified || (known?.verified ?? false)
    const at = Math.max(entry.at, known?.at ?? 0)
    const others = known ? numbers.filter(number => number !== known) : numbers
    numbers = sortByTime([...others, { ...entry, at, verified }])
  }
  return { numbers: numbers.filter(({ at }) => at > now - BLOCK_WINDOW_MS).slice(-MAX_NUMBERS_PER_BLOCK) }
}

/** Sorts only if the newest entry is out of order, which is rare. */
const sortByTime = (numbers: BlockNumber[]): BlockNumber[] =>
  numbers.length > 1 && (numbers.at(-1) as BlockNumber).at < (numbers.at(-2) as BlockNumber).at
    ? numbers.sort((one, other) => one.at - other.at)
    : numbers

/** An unverified number counts half while its user may still be entering the code. */
const VERIFY_GRACE_MS = 120_000
const GRACE_WEIGHT = 0.5

export interface NeighbourCounts extends ConversionCounts {
  /** The weighted count of unverified numbers. */
  unverified: number
}

/** Counts a number's neighbours in its block of ten thousand and in its hundred. */
export function countNeighbours(
  { numbers }: Block,
  number: Pick<BlockNumber, 'tag' | 'hundred'>,
  now: number,
): Record<'block' | 'hundred', NeighbourCounts> {
  const block = { sent: 0, verified: 0, unverified: 0 }
  const hundred = { sent: 0, verified: 0, unverified: 0 }
  for (const neighbour of numbers) {
    if (neighbour.tag === number.tag || neighbour.at <= now - BLOCK_WINDOW_MS) continue
    addNeighbour(block, neighbour, now)
    if (neighbour.hundred === number.hundred) addNeighbour(hundred, neighbour, now)
  }
  return { block, hundred }
}

function addNeighbour(counts: NeighbourCounts, { at, verified }: BlockNumber, now: number): void {
  counts.sent += 1
  if (verified) counts.verified += 1
  else counts.unverified += at > now - VERIFY_GRACE_MS ? GRACE_WEIGHT : 1
}
