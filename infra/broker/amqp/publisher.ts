// Durable publishing. In: messages. Out: a promise for each, resolved by RabbitMQ's confirm. RabbitMQ also confirms a message that no
// queue takes, so each is published as `mandatory`: RabbitMQ then returns it first, and a token tells which message came back.
import type { Buffer } from 'node:buffer'
import { type ConfirmChannel, IllegalOperationError, type Options } from 'amqplib'
import { Unavailable } from '../../unavailable.ts'
import { Unroutable } from '../broker.ts'
import { type AmqpChannelDeps, createRecoveringChannel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'

export interface Publisher {
  ready(): boolean
  /** Resolves once it is ready, at once while it is; rejects when it is closed before. */
  whenReady(): Promise<void>
  send(queue: string, content: Buffer, properties: Options.Publish): Promise<void>
  /** Rejects every publish that waits for its confirm. Whether RabbitMQ has those messages is then unknown. */
  rejectPending(why: string): void
  close(): Promise<void>
}

export interface PublisherOptions extends AmqpChannelDeps {
  /** Called for every new channel before its use. */
  declareQueues: () => Promise<void>
  /** Called when RabbitMQ returns a message because there is no such queue. */
  onMissing: (queue: string) => void
  deadlines: Deadlines
  /** How long a confirm may take. RabbitMQ stays connected and confirms nothing while a quorum is lost. */
  confirmMs: number
}

interface PendingPublish {
  queue: string
  returned: boolean
  settle: (error: Error | null) => void
}

export function createPublisher(options: PublisherOptions): Publisher {
  const { connection, declareQueues, onMissing, deadlines, confirmMs } = options
  const unconfirmed = new Map<string, PendingPublish>()
  let published = 0

  const channel = createRecoveringChannel<ConfirmChannel>(options, {
    name: 'publish',
    open: model => model.createConfirmChannel(),
    async prepare(opened) {
      opened.on('return', message => {
        const returned = unconfirmed.get(String(message.properties.correlationId))
        if (returned) returned.returned = true
      })
      await declareQueues()
    },
  })

  function settle(token: string, error: Error | null): void {
    const waiting = unconfirmed.get(token)
    unconfirmed.delete(token)
    if (waiting?.returned) onMissing(waiting.queue)
    waiting?.settle(waiting.returned ? new Unroutable(`no queue ${waiting.queue}`) : error)
  }

  const rejectPending = (why: string): void => {
    for (const token of [...unconfirmed.keys()]) settle(token, new Unavailable(why))
  }

  return {
    ready: () => channel.ready() !== undefined,
    whenReady: channel.whenReady,
    rejectPending,
    send: (queue, content, properties) =>
      new Promise((resolve, reject) => {
        const open = channel.ready()
        if (!open || connection.blocked()) throw new Unavailable(`RabbitMQ is ${open ? 'blocked' : 'not connected'}`)
        published += 1
        const token = published.toString(36)
        const cancel = deadlines.after(confirmMs, () => settle(token, new Unavailable('RabbitMQ did not confirm')))
        unconfirmed.set(token, {
          queue,
          returned: false,
          settle(error) {
            cancel()
            if (error) reject(error)
            else resolve()
          },
        })
        const publishOptions = { ...properties, mandatory: true, persistent: true, correlationId: token }
        try {
          open.sendToQueue(queue, content, publishOptions, error =>
            settle(token, error && new Unavailable(String(error))),
          )
        } catch (error) {
          settle(token, error instanceof IllegalOperationError ? new Unavailable(error.message) : asError(error))
        }
      }),
    async close() {
      rejectPending('the broker was closed')
      await channel.close()
    },
  }
}

const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
