// Durable publishing. Resolves only on the broker's confirm, and only when a queue took the message: a confirm alone also comes
// for a message that went nowhere, so each is `mandatory`, and one handed back is told by a token of its own.
import type { Buffer } from 'node:buffer'
import { type ConfirmChannel, IllegalOperationError, type Options } from 'amqplib'
import { Unavailable } from '../../unavailable.ts'
import { Unroutable } from '../broker.ts'
import { type AmqpChannelDeps, createRecoveringChannel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'

export interface Publisher {
  ready(): boolean
  send(queue: string, content: Buffer, properties: Options.Publish): Promise<void>
  /** Rejects every publish that waits for its confirm. Whether RabbitMQ has those messages is then unknown. */
  rejectPending(why: string): void
  close(): Promise<void>
}

export interface PublisherOptions extends AmqpChannelDeps {
  /** Run for every new channel before it is used. */
  declareQueues: () => Promise<void>
  /** A message came back: there is no such queue. */
  onMissing: (queue: string) => void
  deadlines: Deadlines
  /** A broker that lives but does not confirm (a quorum lost) must not hold a caller for ever. */
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
