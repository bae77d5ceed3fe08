// Seals texts at rest and in broker messages, with AES-256-GCM. In: a text, its context and the keys of its contexts. Out:
// `v1.<key id>.<base64url of IV, ciphertext and tag>`.
import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { createBoundedMap } from '../bounded-map.ts'
import { pooledRandom } from '../random.ts'

/** The text was tampered with, belongs to another context, or its key is missing. The message says nothing about the content. */
export class Unsealable extends Error {
  override name = 'Unsealable'
}

const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED_PATTERN = /^v1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/

/** The key of a context. */
export type ContextKeys = (context: string) => Buffer

export function seal(plain: string, context: string, keyId: string, keyFor: ContextKeys): string {
  const head = `v1.${keyId}.`
  const iv = pooledRandom(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyFor(context), iv)
  cipher.setAAD(Buffer.from(head + context))
  const bytes = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return head + bytes.toString('base64url')
}

/** `keysOf` returns the keys of a key id, or throws, before the text is decoded: an operator can add a missing key. */
export function unseal(sealed: string, context: string, keysOf: (keyId: string) => ContextKeys): string {
  const { keyId, text } = parse(sealed)
  const keyFor = keysOf(keyId)
  const bytes = Buffer.from(text, 'base64url')
  // Several base64url texts decode to the same bytes; only the one that `seal` writes is accepted.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text)
    throw new Unsealable('not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', keyFor(context), bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(`v1.${keyId}.${context}`))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  // GCM holds nothing back for `final`, which checks the tag.
  const plain = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
  try {
    decipher.final()
  } catch {
    throw new Unsealable('tampered with, or sealed in another context')
  }
  return plain.toString('utf8')
}

/** The id of the key a text was sealed with. */
export const keyIdOf = (sealed: string): string => parse(sealed).keyId

function parse(sealed: string): { keyId: string; text: string } {
  const [, keyId, text] = SEALED_PATTERN.exec(sealed) ?? []
  if (keyId === undefined || text === undefined) throw new Unsealable('not a sealed text')
  return { keyId, text }
}

/** A broker message has one of a few contexts, and a verification is sealed and opened again within moments. */
const MAX_KEPT_KEYS = 2_000

/** One key per context: random IVs may repeat after 2^32 texts under one key, which a busy system writes in days. The latest keys are
 *  kept, because deriving one takes a third of the time of sealing a text. */
export function createContextKeys(key: Buffer): ContextKeys {
  const kept = createBoundedMap<Buffer>(MAX_KEPT_KEYS)
  return context => {
    const known = kept.get(context)
    if (known) return known
    const derived = createHmac('sha256', key).update(context).digest()
    kept.set(context, derived)
    return derived
  }
}
