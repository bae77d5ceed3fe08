// Shows that RabbitMQ works for this process. In: a budget. Out: a promise, resolved once a message was confirmed on the connection that
// publishes and has arrived on the one that consumes. It travels through an exclusive queue, which RabbitMQ removes with the connection.
import { Buffer } from 'node:buffer'
import type { Channel } from 'amqplib'
import { withTimeout } from '../../timeout.ts'
import { Unavailable } from '../../unavailable.ts'
import { CallTimeout } from '../broker.ts'
import { type AmqpChannelDeps, createRecoveringChannel } from './channel.ts'
import type { Deadlines } from './deadlines.ts'
import type { Publisher } from './publisher.ts'

export interface RoundTrip {
  run(budgetMs: number): Promise<void>
  close(): Promise<void>
}

export interface RoundTripOptions extends AmqpChannelDeps {
  publisher: Pick<Publisher, 'send'>
  deadlines: Deadlines
}

interface Traveller {
  arrived(): void
  lost(error: Error): void
}

export function createRoundTrip(options: RoundTripOptions): RoundTrip {
  const { publisher, deadlines } = options
  const travelling = new Map<string, Traveller>()
  let queue = ''
  let sent = 0

  const channel = createRecoveringChannel<Channel>(options, {
    name: 'round trip',
    open: model => model.createChannel(),
    async prepare(opened) {
      // RabbitMQ chooses the name: after a cut connection it may hold an exclusive queue of the old name for a while.
      queue = (await opened.assertQueue('', { exclusive: true, autoDelete: true, durable: false })).queue
      await opened.consume(
        queue,
        message => (message ? travelling.get(String(message.content))?.arrived() : channel.reopen(opened)),
        { noAck: true },
      )
    },
    lost() {
      for (const { lost } of travelling.values()) lost(new Unavailable('the connection to RabbitMQ was lost'))
    },
  })

  const opened = channel.whenReady()

  async function travel(token: string): Promise<void> {
    await opened
    if (!channel.ready()) throw new Unavailable('RabbitMQ is not connected')
    const arrival = new Promise<void>((arrived, lost) => travelling.set(token, { arrived, lost }))
    await Promise.all([publisher.send(queue, Buffer.from(token), {}), arrival])
  }

  async function run(budgetMs: number): Promise<void> {
    sent += 1
    const token = String(sent)
    try {
      const isBack = await withTimeout(
        deadlines,
        budgetMs,
        travel(token).then(() => true),
      )
      if (!isBack) throw new CallTimeout(`RabbitMQ did not return a message within ${budgetMs} ms`)
    } finally {
      travelling.delete(token)
    }
  }

  return { run, close: channel.close }
}
