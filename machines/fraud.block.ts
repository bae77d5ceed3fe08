// Numbers that differ in their last four digits only, to which text messages went lately. In: a block and sightings of its numbers.
// Out: the block after. Pure. A number counts once, however often it is sent to or verified.

export interface Neighbour {
  /** Tells numbers of one block apart, and says nothing else of them. */
  tag: string
  /** Numbers of the same hundred, which differ in their last two digits only, have the same. */
  hundred: string
  /** When a message was last sent to it. */
  at: number
  verified: boolean
}

export interface Block {
  numbers: Neighbour[]
}

export const EMPTY_BLOCK: Block = { numbers: [] }
/** Numbers are neighbours if they were sent to within so long. */
export const BLOCK_MS = 3_600_000
/** More would change no judgement. */
const MOST = 64

export function sighted(block: Block, sightings: readonly Neighbour[], now: number): Block {
  let numbers = block.numbers
  for (const sighting of sightings) {
    const known = numbers.find(({ tag }) => tag === sighting.tag)
    const verified = sighting.verified || (known?.verified ?? false)
    const at = Math.max(sighting.at, known?.at ?? 0)
    const others = known ? numbers.filter(number => number !== known) : numbers
    numbers = inOrder([...others, { ...sighting, at, verified }])
  }
  return { numbers: numbers.filter(({ at }) => at > now - BLOCK_MS).slice(-MOST) }
}

/** By time. Nearly always they are already. */
const inOrder = (numbers: Neighbour[]): Neighbour[] =>
  numbers.length > 1 && (numbers.at(-1) as Neighbour).at < (numbers.at(-2) as Neighbour).at
    ? numbers.sort((one, other) => one.at - other.at)
    : numbers

/** Unverified ones weigh half while their people may still be reading. */
const READING_MS = 120_000
const WHILE_READING = 0.5

export interface Neighbours {
  sent: number
  verified: number
  /** What the others weigh. */
  unverified: number
}

/** The neighbours of a number: all of its block, or of its hundred. */
export function neighboursIn(
  { numbers }: Block,
  number: Pick<Neighbour, 'tag' | 'hundred'>,
  now: number,
): Record<'block' | 'hundred', Neighbours> {
  const others = numbers.filter(({ tag, at }) => tag !== number.tag && at > now - BLOCK_MS)
  return {
    block: weighed(others, now),
    hundred: weighed(
      others.filter(({ hundred }) => hundred === number.hundred),
      now,
    ),
  }
}

function weighed(numbers: readonly Neighbour[], now: number): Neighbours {
  const unverified = numbers.filter(({ verified }) => !verified)
  const weights = unverified.map(({ at }) => (at > now - READING_MS ? WHILE_READING : 1))
  return {
    sent: numbers.length,
    verified: numbers.length - unverified.length,
    unverified: weights.reduce((total, weight) => total + weight, 0),
  }
}
