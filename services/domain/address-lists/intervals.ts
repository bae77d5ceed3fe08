// Sets of addresses as intervals that are sorted, disjoint and not adjacent. In: intervals in any order. Out: such a set, unions of sets,
// and whether a set includes an address. A set is one typed array per family: half a million ranges take a few megabytes, the garbage
// collector does not scan them, and a lookup is a binary search.

/** The length of an address in words of 32 bits: 1 in IPv4, 4 in IPv6. */
export type Words = 1 | 4

/** `data` holds the first and the last address of each interval, both inclusive: `2 × words` numbers per interval. */
export interface Intervals {
  readonly words: Words
  readonly data: Uint32Array
}

/** The addresses of a list, or of several. */
export interface AddressSet {
  v4: Intervals
  v6: Intervals
}

export const emptyIntervals = (words: Words): Intervals => ({ words, data: new Uint32Array(0) })

export const intervalCount = ({ words, data }: Intervals): number => data.length / (2 * words)

/** Negative, zero or positive if the address at `one[at]` is below, equal to or above the address at `other[otherAt]`. */
function compare(one: Uint32Array, at: number, other: Uint32Array, otherAt: number, words: Words): number {
  for (let word = 0; word < words; word += 1) {
    const difference = (one[at + word] as number) - (other[otherAt + word] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** Whether the address at `next[nextAt]` is the successor of the address at `one[at]`. */
function isNextAddress(one: Uint32Array, at: number, next: Uint32Array, nextAt: number, words: Words): boolean {
  let carry = 1
  for (let word = words - 1; word >= 0; word -= 1) {
    const sum = ((one[at + word] as number) + carry) >>> 0
    if (next[nextAt + word] !== sum) return false
    carry = carry === 1 && sum === 0 ? 1 : 0
  }
  return carry === 0
}

/** Takes intervals in the order of their first addresses, and joins those that overlap or are adjacent. */
function createJoiner(words: Words, maxIntervals: number) {
  const width = 2 * words
  const data = new Uint32Array(maxIntervals * width)
  let length = 0
  return {
    add(from: Uint32Array, at: number): void {
      const last = length - words
      const joins =
        length > 0 && (compare(from, at, data, last, words) <= 0 || isNextAddress(data, last, from, at, words))
      if (!joins) {
        for (let word = 0; word < width; word += 1) data[length + word] = from[at + word] as number
        length += width
      } else if (compare(from, at + words, data, last, words) > 0)
        for (let word = 0; word < words; word += 1) data[last + word] = from[at + words + word] as number
    },
    /** A copy of the used part, so that the rest of the buffer can be collected. */
    done: (): Intervals => ({ words, data: length === data.length ? data : data.slice(0, length) }),
  }
}

/** `data` has the format of a set, with intervals in any order. For a few thousand intervals: sorting blocks the event loop. */
export function intervalsOf(words: Words, data: Uint32Array): Intervals {
  const width = 2 * words
  const count = data.length / width
  const order = Uint32Array.from({ length: count }, (_, nth) => nth * width)
  const joiner = createJoiner(words, count)
  for (const at of order.sort((one, other) => compare(data, one, data, other, words))) joiner.add(data, at)
  return joiner.done()
}

export function union(one: Intervals, other: Intervals): Intervals {
  if (one.data.length === 0) return other
  if (other.data.length === 0) return one
  const { words, data: left } = one
  const right = other.data
  const width = 2 * words
  const joined = createJoiner(words, (left.length + right.length) / width)
  let [a, b] = [0, 0]
  while (a < left.length || b < right.length) {
    const isLeft = b >= right.length || (a < left.length && compare(left, a, right, b, words) <= 0)
    joined.add(isLeft ? left : right, isLeft ? a : b)
    if (isLeft) a += width
    else b += width
  }
  return joined.done()
}

/** Joins the sets in pairs, so that each set is copied a logarithmic number of times. */
export function unionOf(words: Words, sets: readonly Intervals[]): Intervals {
  if (sets.length === 0) return emptyIntervals(words)
  let left = [...sets]
  while (left.length > 1)
    left = Array.from({ length: Math.ceil(left.length / 2) }, (_, pair) =>
      union(left[2 * pair] as Intervals, left[2 * pair + 1] ?? emptyIntervals(words)),
    )
  return left[0] as Intervals
}

/** Whether every address from `range[0]` to `range[words]` is in the set. */
export function covers({ words, data }: Intervals, range: Uint32Array): boolean {
  const at = findIntervalAt(data, range, words)
  return at >= 0 && compare(data, at + words, range, words, words) >= 0
}

/** Whether the address at `address[0]` is in the set. */
export function includesAddress({ words, data }: Intervals, address: Uint32Array): boolean {
  const at = words === 1 ? findIntervalAtV4(data, address[0] as number) : findIntervalAt(data, address, words)
  return at >= 0 && compare(data, at + words, address, 0, words) >= 0
}

/** The position of the last interval that begins at or below the address; negative when there is none. */
function findIntervalAt(data: Uint32Array, address: Uint32Array, words: Words): number {
  const width = 2 * words
  let [low, high] = [0, data.length / width]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(data, middle * width, address, 0, words) <= 0) low = middle + 1
    else high = middle
  }
  return (low - 1) * width
}

/** The same for IPv4, which most lookups are for: without the loop over words. */
function findIntervalAtV4(data: Uint32Array, address: number): number {
  let [low, high] = [0, data.length >>> 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((data[middle << 1] as number) <= address) low = middle + 1
    else high = middle
  }
  return (low - 1) << 1
}

/** How many addresses of the set are in the range `within`, as precisely as a double can tell. */
export function countAddresses({ words, data }: Intervals, within: Uint32Array): number {
  let sum = 0
  for (let at = 0; at < data.length; at += 2 * words) {
    const starts = compare(data, at, within, 0, words) >= 0
    const ends = compare(data, at + words, within, words, words) <= 0
    const size = span(starts ? data : within, starts ? at : 0, ends ? data : within, ends ? at + words : words, words)
    if (size > 0) sum += size
  }
  return sum
}

function span(first: Uint32Array, at: number, last: Uint32Array, lastAt: number, words: Words): number {
  let size = 0
  for (let word = 0; word < words; word += 1)
    size = size * 2 ** 32 + (last[lastAt + word] as number) - (first[at + word] as number)
  return size + 1
}
