// Signatures by Standard Webhooks, which public libraries make and check. Pure.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { isBase64 } from '../../../infra/base64.ts'
import { isSameSecret } from '../../../infra/crypto/compare-secrets.ts'
import { MINUTE_MS } from '../../../infra/time.ts'

const MAX_AGE_SECONDS = 300
/** A header has one signature for each secret of the sender, of which there are two while a secret is replaced. More are not looked at: a
 *  stranger could have thousands compared with one request. */
const MAX_SIGNATURES = 10

/** A request may be repeated for this long after it was first accepted: its timestamp may lie as far ahead as behind. A minute is for
 *  processes whose clocks differ. */
export const REPEATABLE_MS = 2 * MAX_AGE_SECONDS * 1000 + MINUTE_MS

export interface SignedRequest {
  id: string
  /** In seconds. */
  timestamp: string
  body: string | Uint8Array
}

/** Without the version before it. */
export const standardSignature = (secret: string, { id, timestamp, body }: SignedRequest): string =>
  createHmac('sha256', standardKey(secret)).update(`${id}.${timestamp}.`).update(body).digest('base64')

/** Whether the request names itself, and is not older or newer than five minutes. */
export function isRecent({ id, timestamp }: Omit<SignedRequest, 'body'>, now: number): boolean {
  const age = Math.abs(now / 1000 - Number(timestamp))
  return id !== '' && /^\d+$/.test(timestamp) && age <= MAX_AGE_SECONDS
}

/** Whether one of the signatures in the header is right, and the request recent. Some senders separate signatures by a
 *  comma and a space. */
export function isSignedBy(secret: string, request: SignedRequest, header: string, now: number): boolean {
  if (!isRecent(request, now)) return false
  const right = `v1,${standardSignature(secret, request)}`
  return header.split(/,?\s+/, MAX_SIGNATURES).some(given => isSameSecret(given, right))
}

/** The key as public libraries derive it: the base64 after `whsec_`. A secret that is not base64 is the key itself. */
function standardKey(secret: string): Uint8Array {
  const encoded = secret.replace(/^whsec_/, '')
  return isBase64(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret)
}
