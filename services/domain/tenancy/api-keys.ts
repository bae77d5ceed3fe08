// API keys: made here, shown once, stored as a hash. The prefix tells the finder of a leaked key what kind of key it is.
import { createHash, randomBytes } from 'node:crypto'
import type { Random } from '../../../infra/ids.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import type { ApiKey } from './documents.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const KEY_BYTES = 32
/** 62^43 is just above 2^256, so every 32 bytes fit and all keys have the same length. */
const KEY_CHARS = 43

export function newApiKey(kind: KeyKind, mode: Mode, random: Random = randomBytes): string {
  let left = random(KEY_BYTES).reduce((number, byte) => number * 256n + BigInt(byte), 0n)
  let text = ''
  for (; text.length < KEY_CHARS; left /= 62n) text = BASE62[Number(left % 62n)] + text
  return `${kind === 'server' ? 'sk' : 'pk'}_${mode}_${text}`
}

/** Keys are stored and looked up by this hash. A plain hash is safe because a key has 256 random bits. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex')

/** The end of a key, by which a person recognises it. The 39 characters that stay secret are as hard to guess as before. */
export const last4Of = (key: string): string => key.slice(-4)

/** The document of a new key with this value. */
export const keyDocument = (
  value: string,
  fields: Pick<ApiKey, '_id' | 'app_id' | 'company_id' | 'kind' | 'mode' | 'name' | 'created_at'>,
): ApiKey => ({ ...fields, hash: hashApiKey(value), last4: last4Of(value), revoked_at: null })

const PREFIX = /^(sk|pk)_(live|test)_/

/** A key without its prefix, which anyone can guess. */
export const secretPartOf = (key: string): string => key.replace(PREFIX, '')

/** What the prefix of a key says about it. An operator's own key in the bootstrap file need not have such a prefix. */
export function kindAndModeOf(key: string | undefined): { kind?: KeyKind; mode?: Mode } {
  const [, kind, mode] = PREFIX.exec(key ?? '') ?? []
  if (!kind) return {}
  return { kind: kind === 'sk' ? 'server' : 'publishable', mode: mode === 'live' ? 'live' : 'test' }
}
