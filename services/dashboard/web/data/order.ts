// Moves an item of a list. Pure.

/** The list with `item` at `place`, counted from 0; a place beyond an end is that end. */
export function moveTo<T>(list: readonly T[], item: T, place: number): T[] {
  const others = list.filter(one => one !== item)
  return others.toSpliced(Math.max(0, place), 0, item)
}

/** The place of an item that is dragged to `y`. `middles`: of the other rows, from top to bottom. */
export const placeAt = (y: number, middles: readonly number[]): number => middles.filter(middle => middle < y).length
