// Seals texts at rest and in broker messages, with AES-256-GCM. In: a text, its context and a key. Out:
// `v1.<key id>.<base64url of IV, ciphertext and tag>`.
import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { pooledRandom } from '../random.ts'

/** The text was tampered with, belongs to another context, or its key is missing. The message says nothing about the content. */
export class Unsealable extends Error {
  override name = 'Unsealable'
}

const IV_BYTES = 12
const TAG_BYTES = 16
const SEALED_PATTERN = /^v1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/

export function seal(plain: string, context: string, keyId: string, key: Buffer): string {
  const head = `v1.${keyId}.`
  const iv = pooledRandom(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyFor(context, key), iv)
  cipher.setAAD(Buffer.from(head + context))
  const bytes = Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return head + bytes.toString('base64url')
}

export function unseal(sealed: string, context: string, key: Buffer): string {
  const [, keyId, text = ''] = SEALED_PATTERN.exec(sealed) ?? []
  const bytes = Buffer.from(text, 'base64url')
  // Several base64url texts decode to the same bytes; only the one that `seal` writes is accepted.
  if (bytes.length < IV_BYTES + TAG_BYTES || bytes.toString('base64url') !== text)
    throw new Unsealable('not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', keyFor(context, key), bytes.subarray(0, IV_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(Buffer.from(`v1.${keyId}.${context}`))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const plain = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([plain, decipher.final()]).toString('utf8')
  } catch {
    throw new Unsealable('tampered with, or sealed in another context')
  }
}

/** The id of the key a text was sealed with. */
export function keyIdOf(sealed: string): string {
  const keyId = SEALED_PATTERN.exec(sealed)?.[1]
  if (keyId === undefined) throw new Unsealable('not a sealed text')
  return keyId
}

/** One key per context: random IVs may repeat after 2^32 texts under one key, which a busy system writes in days. */
const keyFor = (context: string, key: Buffer): Buffer => createHmac('sha256', key).update(context).digest()
