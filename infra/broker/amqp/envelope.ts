// A work message on the wire: the body is the content as JSON, all else are properties, so that a retry or a dead letter carries the
// same bytes that were published.
import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Message as AmqpMessage, Options } from 'amqplib'
import { type Trace, traceIn, withTrace } from '../../trace.ts'
import type { DeadLetter, DeliveredMessage } from '../broker.ts'

export interface MessageMeta {
  id: string
  attempt: number
  /** How often it has failed unforeseen. */
  failures: number
  publishedAt: number
  redelivered: boolean
  publishedAgain?: boolean | undefined
  trace?: Trace | undefined
}

export const contentOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body) ?? 'null')

/** A retry is a new message to RabbitMQ, so the header keeps what RabbitMQ said of the message before. */
export const messageProperties = (
  { id, attempt, failures, publishedAt, redelivered, publishedAgain, trace }: MessageMeta,
  extra = {},
): Options.Publish => ({
  messageId: id,
  contentType: 'application/json',
  headers: {
    attempt,
    publishedAt,
    ...(failures > 0 ? { failures } : {}),
    ...(redelivered ? { redelivered } : {}),
    ...(publishedAgain ? { publishedAgain } : {}),
    ...traceHeaders(trace),
    ...extra,
  },
})

/** `traceparent` under the name that tools for AMQP look for. */
const traceHeaders = (trace: Trace | undefined): Record<string, string | number> => {
  if (trace === undefined) return {}
  const { traceparent, ...others } = trace
  return traceparent === null ? others : { ...others, traceparent }
}

export const deadLetterProperties = (meta: MessageMeta, reason: string, diedAt: number): Options.Publish =>
  messageProperties(meta, { reason: reason.slice(0, 1_000), diedAt })

/** Never throws: a message that another program put into the queue gets default values. */
export function metaOf({ fields, properties: { messageId, headers }, content }: AmqpMessage): MessageMeta {
  return {
    id: String(messageId || unnamedId(content)),
    attempt: numberOr(headers?.attempt, 1),
    failures: numberOr(headers?.failures, 0),
    publishedAt: numberOr(headers?.publishedAt, 0),
    redelivered: fields.redelivered || headers?.redelivered === true,
    ...(headers?.publishedAgain === true ? { publishedAgain: true } : {}),
    trace: traceIn(headers),
  }
}

/** A message that another program published without an id has one by its content, so that operators can name it. */
const unnamedId = (content: Buffer): string =>
  `unnamed:${createHash('sha256').update(content).digest('hex').slice(0, 32)}`

/** How often consumers have died with the message, or returned it. Quorum queues count this. */
export const returnsOf = ({ properties: { headers } }: AmqpMessage): number =>
  numberOr(headers?.['x-delivery-count'], 0)

export const bodyOf = (message: AmqpMessage): unknown => JSON.parse(message.content.toString())

export function deliveredOf(message: AmqpMessage): DeliveredMessage {
  const { failures, trace, ...meta } = metaOf(message)
  return { ...meta, body: bodyOf(message), ...withTrace(trace) }
}

export const DELIVERY_LIMIT_REASON = 'delivery_limit: its consumers kept dying on it, or handing it back'

/** A consumer made it a dead letter, with our headers; or RabbitMQ did, at the delivery limit, with its `x-death`
 *  header; or another program did, with any headers. */
export function deadLetterOf(message: AmqpMessage): DeadLetter {
  const { id, attempt, trace } = metaOf(message)
  const { headers } = message.properties
  const reason = String(headers?.reason ?? deathOf(message)?.reason ?? 'unknown')
  return {
    id,
    ...readableOf(message),
    attempt,
    reason: reason === 'delivery_limit' ? DELIVERY_LIMIT_REASON : reason,
    diedAt: diedAtOf(message),
    position: positionOf(message),
    ...withTrace(trace),
  }
}

/** Letters are listed in this order: by death, then by id. RabbitMQ does not keep the order of letters that were returned. */
export const positionOf = (message: AmqpMessage): string =>
  `${String(diedAtOf(message)).padStart(16, '0')} ${metaOf(message).id}`

/** The largest time that a Date can hold. */
const MAX_TIME = 8.64e15

function diedAtOf(message: AmqpMessage): number {
  const seconds = numberOr(deathOf(message)?.time?.value, 0)
  const diedAt = Math.floor(numberOr(message.properties.headers?.diedAt, seconds * 1_000))
  return diedAt >= 0 && diedAt <= MAX_TIME ? diedAt : 0
}

/** The newest entry of RabbitMQ's own record. Another program may have put anything there. */
function deathOf({
  properties: { headers },
}: AmqpMessage): { reason?: unknown; time?: { value?: unknown } } | undefined {
  const deaths: unknown = headers?.['x-death']
  const newest: unknown = Array.isArray(deaths) ? deaths[0] : undefined
  return typeof newest === 'object' && newest !== null ? newest : undefined
}

function readableOf(message: AmqpMessage): Pick<DeadLetter, 'body' | 'content'> {
  try {
    return { body: bodyOf(message) }
  } catch {
    return { body: null, content: message.content }
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
