// The queues as RabbitMQ declares them. In: the topology. Out: names, types and arguments. A declaration can be repeated, but RabbitMQ
// refuses (406) one with other arguments than the existing queue has. So a changed argument needs another version in the prefix.
import type { Channel, Options } from 'amqplib'
import type { CallQueue, Queue, Topology, WorkQueue } from '../topology.ts'

export const DEFAULT_DELIVERY_LIMIT = 20

export interface QueueNames {
  queue(queue: Queue): string
  wait(queue: WorkQueue, delayMs: number): string
  dead(queue: WorkQueue): string
  /** An exclusive queue that exists while a process inspects the dead letters. */
  deadLock(queue: WorkQueue): string
}

export const queueNames = (prefix: string): QueueNames => ({
  queue: queue => `${prefix}.${queue}`,
  wait: (queue, delayMs) => `${prefix}.${queue}.wait.${delayMs}`,
  dead: queue => `${prefix}.${queue}.dead`,
  deadLock: queue => `${prefix}.${queue}.dead.lock`,
})

export interface Declaration {
  name: string
  options: Options.AssertQueue
}

export interface Queues {
  /** A work queue with its wait queues and its dead letters. */
  work(queue: WorkQueue): Declaration[]
  calls(queue: CallQueue, channel: Channel): Declaration
  all(channel: Channel): Declaration[]
}

/** Every inspection of dead letters counts as a delivery, and RabbitMQ 4 drops a message after 20 deliveries where no limit is set. */
const UNLIMITED_DELIVERIES = 1_000_000_000

export function createQueues(names: QueueNames, topology: Topology, deliveryLimit: number): Queues {
  const quorum = (name: string, args: Record<string, string | number>): Declaration => ({
    name,
    options: { durable: true, arguments: { 'x-queue-type': 'quorum', ...args } },
  })
  // Without the last two arguments RabbitMQ dead-letters at most once, without an error: a message could be lost.
  const deadLetterTo = (target: string): Record<string, string> => ({
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': target,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  })

  // Targets are declared first, so that no message is dead-lettered to a missing queue.
  const work = (queue: WorkQueue): Declaration[] => [
    quorum(names.dead(queue), { 'x-delivery-limit': UNLIMITED_DELIVERIES }),
    quorum(names.queue(queue), { 'x-delivery-limit': deliveryLimit, ...deadLetterTo(names.dead(queue)) }),
    ...topology.work[queue].map(delayMs =>
      quorum(names.wait(queue, delayMs), { 'x-message-ttl': delayMs, ...deadLetterTo(names.queue(queue)) }),
    ),
  ]
  const calls = (queue: CallQueue, channel: Channel): Declaration => ({
    name: names.queue(queue),
    options: { durable: refusesTransientQueues(channel), arguments: { 'x-queue-type': 'classic' } },
  })
  return {
    work,
    calls,
    all: channel => [
      ...topology.calls.map(queue => calls(queue, channel)),
      ...(Object.keys(topology.work) as WorkQueue[]).flatMap(work),
    ],
  }
}

export async function assertQueues(channel: Channel, declarations: Declaration[]): Promise<void> {
  for (const { name, options } of declarations) await channel.assertQueue(name, options)
}

/** Runs a task on a channel of its own: RabbitMQ closes the channel of a call that it refuses. */
export type OnChannel = <T>(task: (channel: Channel) => Promise<T>) => Promise<T>

/** Declares all queues. RabbitMQ asks for the right to configure a queue even where the queue exists, and a user with the rights of one role
 *  has it for the queues of that role alone. Such a process looks which queues exist, and declares only those that are missing. */
export async function declareAll(onChannel: OnChannel, queues: Queues): Promise<void> {
  const mayDeclare = await onChannel(channel =>
    assertQueues(channel, queues.all(channel)).then(() => true, falseFor(ACCESS_REFUSED)),
  )
  if (mayDeclare) return
  let left = await onChannel(async channel => queues.all(channel))
  for (;;) {
    const missing = await onChannel(channel => firstMissing(channel, left))
    if (missing === undefined) return
    await onChannel(channel => assertQueues(channel, [missing]))
    left = left.slice(left.indexOf(missing) + 1)
  }
}

async function firstMissing(channel: Channel, declarations: Declaration[]): Promise<Declaration | undefined> {
  for (const declaration of declarations)
    if (!(await channel.checkQueue(declaration.name).then(() => true, falseFor(NOT_FOUND)))) return declaration
}

const ACCESS_REFUSED = 403
export const NOT_FOUND = 404

/** For a call that RabbitMQ may refuse with this code. Other errors are thrown. */
export const falseFor =
  (code: number) =>
  (error: unknown): false => {
    if (error instanceof Error && 'code' in error && error.code === code) return false
    throw error
  }

/** In a cluster a transient queue can be declared on another node at once when its node is lost, which suits calls. RabbitMQ 4 deprecates
 *  transient queues, and 4.3 refuses them. */
const refusesTransientQueues = ({ connection }: Channel): boolean =>
  Number.parseInt(connection.serverProperties.version, 10) >= 4
