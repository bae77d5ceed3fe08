// A work message on the wire: the body is the content as JSON, all else are properties, so that a retry or a dead letter carries the
// same bytes that were published.
import { Buffer } from 'node:buffer'
import type { Message as AmqpMessage, Options } from 'amqplib'
import { type Trace, traceIn, withTrace } from '../../trace.ts'
import type { DeadLetter, DeliveredMessage, Message } from '../broker.ts'

export interface MessageMeta {
  id: string
  attempt: number
  publishedAt: number
  redelivered: boolean
  trace?: Trace | undefined
}

export const contentOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body) ?? 'null')

/** A retry is a new message to RabbitMQ, so the header keeps what RabbitMQ said of the message before. */
export const messageProperties = (
  { id, attempt, publishedAt, redelivered, trace }: MessageMeta,
  extra = {},
): Options.Publish => ({
  messageId: id,
  contentType: 'application/json',
  headers: { attempt, publishedAt, ...(redelivered ? { redelivered } : {}), ...traceHeaders(trace), ...extra },
})

/** `traceparent` under the name that tools for AMQP look for. */
const traceHeaders = (trace: Trace | undefined): Record<string, string> => {
  if (trace === undefined) return {}
  const { request_id, traceparent } = trace
  return traceparent === null ? { request_id } : { request_id, traceparent }
}

export const deadLetterProperties = (meta: MessageMeta, reason: string, diedAt: number): Options.Publish =>
  messageProperties(meta, { reason: reason.slice(0, 1_000), diedAt })

/** Never throws: a message that another program put into the queue gets default values. */
export function metaOf({ fields, properties: { messageId, headers } }: AmqpMessage): MessageMeta {
  return {
    id: String(messageId ?? ''),
    attempt: numberOr(headers?.attempt, 1),
    publishedAt: numberOr(headers?.publishedAt, 0),
    redelivered: fields.redelivered || headers?.redelivered === true,
    trace: traceIn(headers),
  }
}

export const bodyOf = (message: AmqpMessage): unknown => JSON.parse(message.content.toString())

export function deliveredOf(message: AmqpMessage): DeliveredMessage {
  const { trace, ...meta } = metaOf(message)
  return { ...meta, body: bodyOf(message), ...withTrace(trace) }
}

/** A handler's outcome made it a dead letter, with our headers; or RabbitMQ did, at the delivery limit, with its `x-death` header. */
export function deadLetterOf(message: AmqpMessage): DeadLetter {
  const { id, attempt, trace } = metaOf(message)
  const headers = message.properties.headers
  const death = headers?.['x-death']?.[0]
  const reason = headers?.reason ?? (death?.reason as string | undefined) ?? 'unknown'
  return {
    id,
    body: bodyOrText(message),
    attempt,
    reason:
      reason === 'delivery_limit'
        ? 'delivery_limit: its consumers kept dying on it, or handing it back'
        : String(reason),
    diedAt: numberOr(headers?.diedAt, (death?.time.value ?? 0) * 1_000),
    ...withTrace(trace),
  }
}

function bodyOrText(message: AmqpMessage): Message['body'] {
  try {
    return bodyOf(message)
  } catch {
    return message.content.toString()
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
