// A work message on the wire: its JSON is the content, all else are properties, so that a retry or a dead letter carries the
// very bytes that came in.
import { Buffer } from 'node:buffer'
import type { Message as AmqpMessage, Options } from 'amqplib'
import type { DeadLetter, Delivered, Message } from '../broker.ts'

export interface Stamp {
  id: string
  attempt: number
  publishedAt: number
}

export const contentOf = (body: unknown): Buffer => Buffer.from(JSON.stringify(body) ?? 'null')

export const properties = ({ id, attempt, publishedAt }: Stamp, extra = {}): Options.Publish => ({
  messageId: id,
  contentType: 'application/json',
  headers: { attempt, publishedAt, ...extra },
})

export const lastWords = (stamp: Stamp, reason: string, diedAt: number): Options.Publish =>
  properties(stamp, { reason: reason.slice(0, 1_000), diedAt })

/** Never throws: what somebody else put into the queue has these, too. */
export function stampOf({ properties: { messageId, headers } }: AmqpMessage): Stamp {
  return {
    id: String(messageId ?? ''),
    attempt: numberOr(headers?.attempt, 1),
    publishedAt: numberOr(headers?.publishedAt, 0),
  }
}

export const bodyOf = (message: AmqpMessage): unknown => JSON.parse(message.content.toString())

export const deliveredOf = (message: AmqpMessage): Delivered => ({ ...stampOf(message), body: bodyOf(message) })

/** Either a handler's outcome brought it here, with our headers, or RabbitMQ itself did, and says so in its own. */
export function deadLetterOf(message: AmqpMessage): DeadLetter {
  const { id, attempt } = stampOf(message)
  const headers = message.properties.headers
  const death = headers?.['x-death']?.[0]
  const reason = headers?.reason ?? (death?.reason as string | undefined) ?? 'unknown'
  return {
    id,
    body: readable(message),
    attempt,
    reason:
      reason === 'delivery_limit'
        ? 'delivery_limit: its consumers kept dying on it, or handing it back'
        : String(reason),
    diedAt: numberOr(headers?.diedAt, (death?.time.value ?? 0) * 1_000),
  }
}

function readable(message: AmqpMessage): Message['body'] {
  try {
    return bodyOf(message)
  } catch {
    return message.content.toString()
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise)
