// Addresses that are not public. Published lists contain such ranges, bogon lists in particular. A client with such an address counts as
// having no address, before any list is looked up, so storing these ranges would be useless. They are those that infra/ip-address.ts
// finds not to be public.
import { type AddressSet, covers, type Intervals, intervalsOf, type Words } from './intervals.ts'
import { createRangeBuffer, parseRange } from './notation.ts'

export const RESERVED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]

/** What is outside 2000::/3, and special networks within. */
export const RESERVED_V6 = [
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
]

function setOf(words: Words, cidrs: readonly string[]): Intervals {
  const range = createRangeBuffer()
  const wordsOf = (cidr: string): number[] => {
    parseRange(cidr, range)
    return [...range.subarray(0, 2 * words)]
  }
  return intervalsOf(words, Uint32Array.from(cidrs.flatMap(wordsOf)))
}

const RESERVED = { 1: setOf(1, RESERVED_V4), 4: setOf(4, RESERVED_V6) }

/** Whether no address of the range is public. A range that is partly public is stored whole: its other part is never looked up. */
export const isReserved = (words: Words, range: Uint32Array): boolean => covers(RESERVED[words], range)

/** The addresses of valid ranges. For a few thousand ranges: they are sorted in one go. */
export function addressesOf(cidrs: readonly string[]): AddressSet {
  const range = createRangeBuffer()
  const ofFamily = (words: Words) =>
    setOf(
      words,
      cidrs.filter(cidr => parseRange(cidr, range) === words),
    )
  return { v4: ofFamily(1), v6: ofFamily(4) }
}
