// Signs one attempt to deliver an event. In: the event's id, the bytes that are sent, the time of this attempt and the secrets that sign
// now. Out: the headers of the signature. Pure.
//   X-Webhook-*  Countersign's own: hex, of the current secret alone, keyed with its literal bytes.
//   webhook-*    Standard Webhooks, which public libraries verify: base64, one signature per secret, so that receivers can follow a rotation.
import { createHmac } from 'node:crypto'
import { standardSignature } from './standard-signature.ts'

export interface SignatureInput {
  /** The event's id, the same at every attempt. */
  id: string
  body: string | Uint8Array
  /** The time of this attempt in epoch milliseconds. A retry with the time of the first attempt would be refused as stale. */
  at: number
  /** In the clear, the current secret first. */
  secrets: readonly [string, ...string[]]
}

export function signatureHeaders({ id, body, at, secrets }: SignatureInput): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  return {
    'x-webhook-timestamp': timestamp,
    'x-webhook-signature': createHmac('sha256', secrets[0]).update(`${timestamp}.`).update(body).digest('hex'),
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map(secret => `v1,${standardSignature(secret, { id, timestamp, body })}`).join(' '),
  }
}
