// Reads a list as its publishers write it. In: the bytes of a text, one address or range per line, comments after # or ;. Out: the
// addresses as sets, and what was left out, by line number. A list can have millions of lines: it is read a few thousand at a time,
// and everything else this process has to do goes on in between.
import { Buffer } from 'node:buffer'
import { type Intervals, intervalCount, intervalsOf, unionOf, type Words } from './intervals.ts'
import { createRangeBuffer, parseRange } from './notation.ts'
import { isReserved } from './reserved.ts'

export interface AddressSet {
  v4: Intervals
  v6: Intervals
}

export interface ParseCounts {
  /** Intervals there are, overlapping and neighbouring ranges joined. */
  ranges: number
  /** Lines that are no comment and not empty. */
  entries: number
  /** Private and reserved ranges, left out. */
  ignored: number
  /** Lines that are no address or range, left out. */
  bad: number
  /** The numbers of the first of them. */
  bad_lines: number[]
}

export interface ParsedList extends ParseCounts {
  set: AddressSet
}

export interface Progress {
  lines: number
  bytes: number
}

/** Between two batches: lets others go on. It may throw, to end the reading. */
export type Pause = (progress: Progress) => Promise<void>

/** How much is read in one go: some milliseconds. */
const BATCH_BYTES = 64 * 1024
const MAX_BAD_LINES_KEPT = 20
export const MAX_RANGES = 4_000_000

export class TooManyRanges extends Error {
  override name = 'TooManyRanges'
}

export async function parseList(bytes: Uint8Array, pause: Pause): Promise<ParsedList> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [v4, v6] = [createRangeCollector(1), createRangeCollector(4)]
  const counts = { entries: 0, ignored: 0, bad: 0, bad_lines: [] as number[] }
  const range = createRangeBuffer()
  let lines = 0

  function readLine(line: string): void {
    lines += 1
    const entry = withoutComment(line)
    if (entry === '') return
    counts.entries += 1
    const words = parseRange(entry, range)
    if (words === 0) {
      counts.bad += 1
      if (counts.bad_lines.length < MAX_BAD_LINES_KEPT) counts.bad_lines.push(lines)
    } else if (isReserved(words, range)) counts.ignored += 1
    else (words === 1 ? v4 : v6).add(range)
  }

  let at = hasByteOrderMark(text) ? BYTE_ORDER_MARK.length : 0
  while (at < text.length) {
    const end = endOfBatch(text, at)
    // Addresses are ASCII; whatever else there is stays as many characters as it has bytes, and cannot be broken.
    for (const line of text.toString('latin1', at, end).split('\n')) readLine(line)
    at = end + 1
    v4.settle()
    v6.settle()
    if (v4.size() + v6.size() > MAX_RANGES) throw new TooManyRanges(`more than ${MAX_RANGES} ranges`)
    await pause({ lines, bytes: Math.min(at, text.length) })
  }
  const set = { v4: v4.done(), v6: v6.done() }
  return { set, ranges: intervalCount(set.v4) + intervalCount(set.v6), ...counts }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const hasByteOrderMark = (text: Buffer): boolean => BYTE_ORDER_MARK.every((byte, at) => text[at] === byte)

const NEWLINE = 10

/** At a newline, or at the end of the text: no line is cut in two. */
function endOfBatch(text: Buffer, from: number): number {
  const newline = text.indexOf(NEWLINE, from + BATCH_BYTES)
  return newline < 0 ? text.length : newline
}

/** A line of a megabyte is no entry: no need to look at all of it. */
const MAX_LINE_LENGTH = 1_000

function withoutComment(line: string): string {
  if (line.length > MAX_LINE_LENGTH)
    return /^\s*[#;]/.test(line.slice(0, MAX_LINE_LENGTH)) ? '' : line.slice(0, MAX_LINE_LENGTH)
  const comment = line.search(/[#;]/)
  return (comment < 0 ? line : line.slice(0, comment)).trim()
}

/** Collects ranges into one set: batches are sorted by themselves and joined with batches of their size, so that nothing is copied
 *  more often than the logarithm of how many there are. */
function createRangeCollector(words: Words) {
  const width = 2 * words
  let batch = new Uint32Array(1024 * width)
  let length = 0
  const sets: Intervals[] = []
  return {
    add(range: Uint32Array): void {
      if (length === batch.length) {
        const larger = new Uint32Array(2 * batch.length)
        larger.set(batch)
        batch = larger
      }
      for (let word = 0; word < width; word += 1) batch[length + word] = range[word] as number
      length += width
    },
    settle(): void {
      if (length === 0) return
      let set = intervalsOf(words, batch.subarray(0, length))
      length = 0
      for (let last = sets.at(-1); last && last.data.length <= 2 * set.data.length; last = sets.at(-1)) {
        sets.pop()
        set = unionOf(words, [last, set])
      }
      sets.push(set)
    },
    size: (): number => sets.reduce((size, set) => size + intervalCount(set), 0),
    done: (): Intervals => unionOf(words, sets),
  }
}
