// An event as a receiver gets it. In: a stored event, the secrets that sign now, the time of this attempt. Out: the
// bytes of its body, and the headers, with those of the signature. Pure.
//   X-Webhook-*  Countersign's own: hex, of the current secret alone, keyed with its literal bytes.
//   webhook-*    Standard Webhooks, which public libraries verify: base64, one signature per secret, so that receivers
//                can follow a rotation.
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import type { EventDoc } from './documents.ts'
import { eventId } from './event-ids.ts'
import { standardSignature } from './standard-signature.ts'

/** The same bytes at every attempt, until the metadata are erased. */
export function eventBody(
  event: Pick<EventDoc, '_id' | 'mode' | 'type' | 'payload'>,
  metadata: Record<string, string> | null = null,
): Buffer {
  const payload = metadata === null ? event.payload : { ...event.payload, metadata }
  return Buffer.from(JSON.stringify({ id: eventId(event), type: event.type, payload }))
}

export const eventHeaders = (
  event: Pick<EventDoc, '_id' | 'mode' | 'trace'>,
  body: Uint8Array,
  secrets: SignatureInput['secrets'],
  at: number,
): Record<string, string> => ({
  'content-type': 'application/json',
  'user-agent': 'Countersign-Webhooks/1',
  'x-webhook-mode': event.mode,
  ...(event.trace?.traceparent ? { traceparent: event.trace.traceparent } : {}),
  ...signatureHeaders({ id: eventId(event), body, at, secrets }),
})

interface SignatureInput {
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
