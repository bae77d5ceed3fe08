// Addresses that are nobody's on the internet. Public lists contain such ranges (bogon lists are full of them); clients there count as
// having no address at all, before any list is asked, so that these ranges would only be dead weight. The table is that of ipaddr.js,
// which judges the clients.
import { countAddresses, covers, type Intervals, intervalsOf, type Words } from './intervals.ts'
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

export const RESERVED_V6 = [
  '::/128',
  '::1/128',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
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

/** Whether nothing of the range is public. One that is so in part is kept: the rest of it is never asked for. */
export const isReserved = (words: Words, range: Uint32Array): boolean => covers(RESERVED[words], range)

/** Where clients have their addresses: all of IPv4, and what was given out of IPv6 so far. */
const CLIENT_ADDRESS_SPACE = { 1: rangeOf('0.0.0.0/0'), 4: rangeOf('2000::/3') }

function rangeOf(cidr: string): Uint32Array {
  const range = createRangeBuffer()
  parseRange(cidr, range)
  return range
}

/** The share of them that is in the set, from 0 to 1. */
export const shareOfAddressSpace = (set: Intervals): number =>
  countAddresses(set, CLIENT_ADDRESS_SPACE[set.words]) / (set.words === 1 ? 2 ** 32 : 2 ** 125)
