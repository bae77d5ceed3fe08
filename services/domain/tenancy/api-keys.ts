// API keys: made here, shown once, stored as a hash. The prefix tells a reader of a leaked key what it opens.
import { createHash, randomBytes } from 'node:crypto'
import type { Random } from '../../../infra/ids.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_BYTES = 32
/** 62^43 is just above 2^256: every value of 32 bytes fits, at the same length. */
const KEY_CHARS = 43

export function newApiKey(kind: KeyKind, mode: Mode, random: Random = randomBytes): string {
  let left = random(KEY_BYTES).reduce((number, byte) => number * 256n + BigInt(byte), 0n)
  let text = ''
  for (; text.length < KEY_CHARS; left /= 62n) text = BASE62[Number(left % 62n)] + text
  return `${kind === 'server' ? 'sk' : 'pk'}_${mode}_${text}`
}

/** What is stored and looked up. A key has 256 random bits, so a plain hash cannot be searched. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** What a key claims to be; null for what is no key. A key given in a bootstrap file may have any ending. */
export function parseApiKey(text: string): { kind: KeyKind; mode: Mode } | null {
  const found = /^([sp])k_(live|test)_[\w-]{1,200}$/.exec(text)
  if (!found) return null
  return { kind: found[1] === 's' ? 'server' : 'publishable', mode: found[2] === 'live' ? 'live' : 'test' }
}
