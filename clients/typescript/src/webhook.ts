// Checks that a webhook request comes from Countersign. In: the raw body, the headers and the signing secret. Out: the event, or a
// WebhookVerificationError. Signatures are compared by WebCrypto, in constant time.
import { WebhookVerificationError } from './errors.ts'
import type { WebhookEvent } from './types.ts'

export interface WebhookOptions {
  /** How old a request may be, and how far in the future; 300 by default. */
  toleranceSeconds?: number
}

/** A Headers object, or the headers of Node, Express and others. */
type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** `rawBody`: as it came, before any JSON parser. `secret`: several while you replace one. Undefined, as a variable of the environment may
 *  be, is a TypeError: the request may be genuine. */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: HeaderSource,
  secret: string | readonly string[] | undefined,
  { toleranceSeconds = 300 }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const secrets = [secret ?? []].flat().filter(one => Boolean(one))
  if (secrets.length === 0) throw new TypeError('verifyWebhook needs a secret.')
  const body = bytesOf(rawBody)
  const header = readHeaders(headers)
  const signed = header('webhook-signature')
    ? { time: header('webhook-timestamp'), check: standardCheck(body, header) }
    : { time: header('x-webhook-timestamp'), check: ownCheck(body, header) }
  const age = Math.abs(Date.now() / 1000 - (/^\d+$/.test(signed.time) ? Number(signed.time) : Number.NaN))
  if (!(age <= toleranceSeconds)) throw refuse('The timestamp is missing, or not of this time.')
  for (const one of secrets) if (await signed.check(one)) return parseEvent(body)
  throw refuse('The signature is missing or wrong.')
}

type Check = (secret: string) => Promise<boolean>

/** Standard Webhooks: several signatures, one for each secret that is valid now. */
function standardCheck(body: Uint8Array<ArrayBuffer>, header: (name: string) => string): Check {
  const text = join(`${header('webhook-id')}.${header('webhook-timestamp')}.`, body)
  const signatures = header('webhook-signature')
    .split(' ')
    .flatMap(one => (one.startsWith('v1,') ? (fromBase64(one.slice(3)) ?? []) : []))
  return async secret => {
    const key = await hmacKey(fromBase64(secret.replace(/^whsec_/, '')) ?? encode(secret))
    const matches = await Promise.all(signatures.map(signature => crypto.subtle.verify('HMAC', key, signature, text)))
    return matches.includes(true)
  }
}

/** Countersign's own: one signature, in hex, keyed with the secret as it is. */
function ownCheck(body: Uint8Array<ArrayBuffer>, header: (name: string) => string): Check {
  const text = join(`${header('x-webhook-timestamp')}.`, body)
  const signature = Uint8Array.from(header('x-webhook-signature').match(/../g) ?? [], byte => Number.parseInt(byte, 16))
  return async secret => crypto.subtle.verify('HMAC', await hmacKey(encode(secret)), signature, text)
}

const hmacKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])

function parseEvent(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch (cause) {
    throw refuse('The body is not JSON.', cause)
  }
}

const refuse = (message: string, cause?: unknown): WebhookVerificationError =>
  new WebhookVerificationError('WebhookVerificationError', message, { cause })

function bytesOf(rawBody: unknown): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === 'string') return encode(rawBody)
  if (rawBody instanceof Uint8Array || rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody)
  throw new TypeError('verifyWebhook needs the raw body, as text or bytes. JSON that was parsed has lost it.')
}

function readHeaders(headers: HeaderSource): (name: string) => string {
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  const values = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? '')]))
  return name => values.get(name) ?? ''
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text))

/** Null for text that is not base64 as encoders write it: the server takes such a secret as it is. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = atob(text)
    return btoa(bytes) === text ? Uint8Array.from(bytes, char => char.charCodeAt(0)) : null
  } catch {
    return null
  }
}

function join(before: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encode(before)
  const joined = new Uint8Array(head.length + body.length)
  joined.set(head)
  joined.set(body, head.length)
  return joined
}
