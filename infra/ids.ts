// Ids: a prefix that says of what, and a lower-case ULID: 48 bits of time, 80 random bits, in Crockford's base 32. Ids made
// later sort later, to the millisecond. Ids given in a bootstrap file need not be ULIDs (`app_demo`), so parsing one is never
// a reason to refuse it.
import { pooledRandom } from './random.ts'

export type IdPrefix = 'cmp' | 'app' | 'key' | 'otp' | 'dlv' | 'evt' | 'aud' | 'ipv' | 'frd'
/** As many random bytes as asked. */
export type Random = (size: number) => Uint8Array

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const ULID = '[0-7][0-9a-hjkmnp-tv-z]{25}'
const TIME_CHARS = 10
const RANDOM_BYTES = 10
const LATEST = 2 ** 48 - 1

export function newId(prefix: IdPrefix, now: number, random: Random = pooledRandom): string {
  if (!Number.isInteger(now) || now < 0 || now > LATEST)
    throw new RangeError('an id needs a time in epoch milliseconds')
  let ulid = ''
  for (let left = now, at = 0; at < TIME_CHARS; at++, left = Math.floor(left / 32)) ulid = ALPHABET[left % 32] + ulid
  let bits = 0
  let held = 0
  for (const byte of random(RANDOM_BYTES)) {
    held = ((held << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) ulid += ALPHABET[(held >> (bits - 5)) & 31]
  }
  return `${prefix}_${ulid}`
}

/** Whether this is an id as `newId` makes them. */
export const isId = (prefix: IdPrefix, text: string): boolean => SHAPES[prefix].test(text)

/** When an id was made, epoch milliseconds; null for one that was given by hand. */
export function ulidTime(id: string): number | null {
  const ulid = ANY.exec(id)?.[1]
  if (ulid === undefined) return null
  return [...ulid.slice(0, TIME_CHARS)].reduce((time, char) => time * 32 + ALPHABET.indexOf(char), 0)
}

const ANY = new RegExp(`^(?:[a-z]{3}_)?(${ULID})$`)
const shape = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_${ULID}$`)
const SHAPES: Readonly<Record<IdPrefix, RegExp>> = {
  cmp: shape('cmp'),
  app: shape('app'),
  key: shape('key'),
  otp: shape('otp'),
  dlv: shape('dlv'),
  evt: shape('evt'),
  aud: shape('aud'),
  ipv: shape('ipv'),
  frd: shape('frd'),
}
