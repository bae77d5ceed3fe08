// Parses a list as publishers write it. In: the bytes of a text with one address or range per line, comments after # or ;. Out: the
// addresses as sets, and counts of the lines that were left out. A list can have millions of lines, so it is parsed in batches, and
// other work of the process runs between them.
import { Buffer } from 'node:buffer'
import { type AddressSet, type Intervals, intervalCount, intervalsOf, unionOf, type Words } from './intervals.ts'
import { createRangeBuffer, parseRange } from './notation.ts'
import { isReserved } from './reserved.ts'

export interface ParseCounts {
  /** Intervals, after overlapping and adjacent ranges were joined. */
  ranges: number
  /** Lines that are neither empty nor a comment. */
  entries: number
  /** Private and reserved ranges: left out. */
  ignored: number
  /** Lines that are not an address or range: left out. */
  bad: number
  /** The line numbers of the first bad lines. */
  bad_lines: number[]
}

export interface ParsedList extends ParseCounts {
  set: AddressSet
}

export interface Progress {
  lines: number
  bytes: number
}

/** Called between two batches, to let other work run. It may throw, which ends the parsing. */
export type Pause = (progress: Progress) => Promise<void>

/** Parsing a batch takes a few milliseconds. */
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
    // Addresses are ASCII. latin1 makes every other byte one character too, so a batch cannot end inside a character.
    for (const line of text.toString('latin1', at, end).split('\n')) readLine(line)
    at = end + 1
    v4.finishBatch()
    v6.finishBatch()
    if (v4.size() + v6.size() > MAX_RANGES) throw new TooManyRanges(`more than ${MAX_RANGES} ranges`)
    await pause({ lines, bytes: Math.min(at, text.length) })
  }
  const set = { v4: v4.done(), v6: v6.done() }
  return { set, ranges: intervalCount(set.v4) + intervalCount(set.v6), ...counts }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const hasByteOrderMark = (text: Buffer): boolean => BYTE_ORDER_MARK.every((byte, at) => text[at] === byte)

const NEWLINE = 10

/** A batch ends at a newline or at the end of the text, so that no line is split. */
function endOfBatch(text: Buffer, from: number): number {
  const newline = text.indexOf(NEWLINE, from + BATCH_BYTES)
  return newline < 0 ? text.length : newline
}

/** Far above the longest range: the rest of a longer line is not looked at. */
const MAX_LINE_LENGTH = 1_000

function withoutComment(line: string): string {
  if (line.length > MAX_LINE_LENGTH)
    return /^\s*[#;]/.test(line.slice(0, MAX_LINE_LENGTH)) ? '' : line.slice(0, MAX_LINE_LENGTH)
  const comment = line.search(/[#;]/)
  return (comment < 0 ? line : line.slice(0, comment)).trim()
}

/** Collects ranges into one set. Each batch is sorted and then joined with earlier sets of about its size, so that each range is copied
 *  a logarithmic number of times. */
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
    finishBatch(): void {
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
