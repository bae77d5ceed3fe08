// Ids: a prefix for the kind of thing, and a lower-case ULID of 48 bits of time and 80 random bits in Crockford's base 32. Ids sort by
// the millisecond in which they were made. An id from a bootstrap file need not hold a ULID (`app_demo`), so only ids that Countersign
// alone makes may be refused by their form.
import { pooledRandom } from './random.ts'

const ID_PREFIXES = [
  'cmp',
  'app',
  'key',
  'otp',
  'msg',
  'dlv',
  'evt',
  'aud',
  'ipv',
  'frd',
  'usr',
  'ses',
  'psk',
  'rfs',
  'whk',
  'ntc',
  'rcp',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]
/** Returns `size` random bytes. */
export type Random = (size: number) => Uint8Array

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ULID = '[0-7][0-9a-hjkmnp-tv-z]{25}'
const TIME_CHARS = 10
const RANDOM_BYTES = 10
const ULID_CHARS = 26
const HEX_CHARS = 32
/** Ids hold 48 bits of time. */
export const MAX_ID_TIME = 2 ** 48 - 1

export function newId(prefix: IdPrefix, now: number, random: Random = pooledRandom): string {
  if (!Number.isInteger(now) || now < 0 || now > MAX_ID_TIME)
    throw new RangeError('an id needs a time in epoch milliseconds')
  let ulid = ''
  for (let left = now, at = 0; at < TIME_CHARS; at++, left = Math.floor(left / 32)) ulid = ALPHABET[left % 32] + ulid
  let bits = 0
  let buffer = 0
  for (const byte of random(RANDOM_BYTES)) {
    buffer = ((buffer << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) ulid += ALPHABET[(buffer >> (bits - 5)) & 31]
  }
  return `${prefix}_${ulid}`
}

/** The lowest id of that time: it sorts before every id that was made then or later, and after every earlier one. */
export const firstIdAt = (prefix: IdPrefix, time: number): string =>
  newId(prefix, Math.min(Math.max(0, Math.floor(time)), MAX_ID_TIME), size => new Uint8Array(size))

/** The id with the same ULID and another prefix. */
export const withPrefix = (prefix: IdPrefix, id: string): string => `${prefix}${id.slice(id.indexOf('_'))}`

/** Whether the text has the form of an id that `newId` makes. */
export const isId = (prefix: IdPrefix, text: string): boolean => ID_PATTERNS[prefix].test(text)

/** Whether the text has the form of an id that Countersign makes or a bootstrap file gives. */
export const isGivenId = (prefix: 'cmp' | 'app' | 'key', text: string): boolean =>
  text.startsWith(`${prefix}_`) && GIVEN_ID_PATTERN.test(text)

/** When an id was made, in epoch milliseconds. Null for an id without a ULID. */
export function ulidTime(id: string): number | null {
  const ulid = ANY_ID_PATTERN.exec(id)?.[1]
  if (ulid === undefined) return null
  let time = 0
  for (let at = 0; at < TIME_CHARS; at += 1) time = time * 32 + ALPHABET.indexOf(ulid.charAt(at))
  return time
}

/** The 128 bits of an id's ULID as 32 hex digits. Null for an id without a ULID. */
export function hexOfUlid(id: string): string | null {
  const ulid = ANY_ID_PATTERN.exec(id)?.[1]
  if (ulid === undefined) return null
  let bits = 0n
  for (const char of ulid) bits = bits * 32n + BigInt(ALPHABET.indexOf(char))
  return bits.toString(16).padStart(HEX_CHARS, '0')
}

/** The ULID of 32 hex digits. */
export function ulidOfHex(hex: string): string {
  let ulid = ''
  for (let bits = BigInt(`0x${hex}`); ulid.length < ULID_CHARS; bits /= 32n) ulid = ALPHABET[Number(bits % 32n)] + ulid
  return ulid
}

const GIVEN_ID_PATTERN = /^[a-z]{3}_[0-9A-Za-z]{1,64}$/
const ANY_ID_PATTERN = new RegExp(`^(?:[a-z]{3}_)?(${ULID})$`)
const ID_PATTERNS = Object.fromEntries(
  ID_PREFIXES.map(prefix => [prefix, new RegExp(`^${prefix}_${ULID}$`)]),
) as Readonly<Record<IdPrefix, RegExp>>
