// Queues and dead letters as the admin API answers them.
import { z } from 'zod'
import { jsonObject, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import { pageOf } from '../page-schema.ts'

export const queue = z
  .object({
    queue: z.string().meta({ description: 'The name of the queue in this API.' }),
    broker_name: z.string().nullable().meta({ description: 'Its name in RabbitMQ; null on the embedded engines.' }),
    ready: z.int().nullable().meta({ description: 'Messages that wait.' }),
    oldest_ms: z.int().nullable().meta({ description: 'How long the oldest of them has waited.' }),
    consumers: z.int().nullable().meta({ description: 'Processes that take its messages.' }),
    owed: z.int().nullable().meta({
      description:
        'Of a channel: deliveries that could be sent now and wait, in this queue or elsewhere. Of `webhook.deliver`: events that could be sent now. Null for others.',
    }),
    owed_oldest_seconds: z.int().nullable().meta({ description: 'How long the oldest of these has waited.' }),
    dead: z.int().nullable().meta({ description: 'Messages that could not be handled.' }),
  })
  .meta({ id: 'Queue', description: 'A queue of the broker.' })

export const queues = z.array(queue).meta({ id: 'Queues', description: 'All queues.' })

export const deadLetter = z
  .object({
    id: z.string().meta({ description: 'Identifies the message.' }),
    at: timeSchema('When it died.').nullable(),
    reason: z.string().nullable().meta({ description: 'Why it could not be handled.' }),
    attempts: z.int().nullable().meta({ description: 'How often it was tried.' }),
    body: jsonObject.nullable().meta({
      description: 'The message, with its sealed parts sealed. A body that is not an object is in its member `value`.',
    }),
  })
  .meta({ id: 'DeadLetter', description: 'A message that could not be handled.' })

export const deadPage = pageOf('DeadLetterPage', deadLetter)

/** As many as a page of the list has. */
const MAX_IDS = 100
/** RabbitMQ's limit for the id of a message. */
const MAX_ID_LENGTH = 255
const messageIds = z.array(z.string().min(1).max(MAX_ID_LENGTH)).min(1).max(MAX_IDS)

export const deadChoice = z
  .strictObject({
    ids: messageIds.optional().meta({ description: 'These messages.' }),
    all: z.literal(true).optional().meta({ description: 'Every dead letter of the queue.' }),
  })
  .meta({ id: 'DeadLetterChoice', description: 'Which dead letters: `ids`, or `all`.' })

export const requeued = z
  .object({ requeued: z.int().meta({ description: 'How many messages are tried again.' }) })
  .meta({ id: 'RequeueResult', description: 'The result of a requeue.' })

export const dropped = z
  .object({ dropped: z.int().meta({ description: 'How many messages were dropped.' }) })
  .meta({ id: 'DropResult', description: 'The result of a drop.' })

export type QueueAnswer = z.output<typeof queue>
export type DeadLetterAnswer = z.output<typeof deadLetter>
export type DeadChoice = z.output<typeof deadChoice>
