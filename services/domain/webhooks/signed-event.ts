// An event as a receiver gets it. In: a stored event, the secrets that sign now, the time. Out: the bytes of its body, and the headers.
import { Buffer } from 'node:buffer'
import type { EventDoc } from './documents.ts'
import { eventId } from './event-ids.ts'
import { type SignatureInput, signatureHeaders } from './signature.ts'

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
