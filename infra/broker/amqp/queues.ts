// The queues as RabbitMQ knows them: names, types and arguments, all from the topology. Declaring is idempotent; a changed
// argument is refused (406) by a broker that has the old queue, which is why the prefix carries a version: change it with them.
import type { Channel, Options } from 'amqplib'
import type { CallQueue, Queue, Topology, WorkQueue } from '../topology.ts'

export interface QueueNames {
  queue(queue: Queue): string
  wait(queue: WorkQueue, delayMs: number): string
  dead(queue: WorkQueue): string
}

export const queueNames = (prefix: string): QueueNames => ({
  queue: queue => `${prefix}.${queue}`,
  wait: (queue, delayMs) => `${prefix}.${queue}.wait.${delayMs}`,
  dead: queue => `${prefix}.${queue}.dead`,
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

/** Looking at dead letters counts as delivering them, and RabbitMQ 4 drops after 20 deliveries where no limit is set. */
const UNLIMITED_DELIVERIES = 1_000_000_000

export function createQueues(names: QueueNames, topology: Topology, deliveryLimit: number): Queues {
  const quorum = (name: string, args: Record<string, string | number>): Declaration => ({
    name,
    options: { durable: true, arguments: { 'x-queue-type': 'quorum', ...args } },
  })
  // All three arguments or none: without them RabbitMQ falls back to dead-lettering at most once, and says nothing.
  const deadLetterTo = (target: string): Record<string, string> => ({
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': target,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  })

  // Targets first, so that nothing can die into nowhere.
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

/** In a cluster a transient queue moves on at once when its node is lost, so it is the better one for calls; 4.3 forbids it. */
function refusesTransientQueues({ connection }: Channel): boolean {
  const [major = 0, minor = 0] = connection.serverProperties.version.split('.').map(Number)
  return major > 4 || (major === 4 && minor >= 3)
}
