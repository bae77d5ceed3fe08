// The queues as RabbitMQ declares them. In: the topology. Out: names, types and arguments. A declaration can be repeated, but RabbitMQ
// refuses (406) one with other arguments than the existing queue has. So a changed argument needs another version in the prefix. Only a
// queue of calls is used as it is, because nothing in it has to outlive a restart.
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
  allWork(): Declaration[]
  /** The channel tells which RabbitMQ it is. */
  calls(queue: CallQueue, channel: Channel): Declaration
  allCalls(channel: Channel): Declaration[]
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
    allWork: () => (Object.keys(topology.work) as WorkQueue[]).flatMap(work),
    calls,
    allCalls: channel => topology.calls.map(queue => calls(queue, channel)),
  }
}

export async function assertQueues(channel: Channel, declarations: Declaration[]): Promise<void> {
  for (const { name, options } of declarations) await channel.assertQueue(name, options)
}

/** Runs a task on a channel of its own: RabbitMQ closes the channel of a call that it refuses. */
export type OnChannel = <T>(task: (channel: Channel) => Promise<T>) => Promise<T>

/** Declares all queues, those of work first: they are replicated, and a queue of calls that fails must not keep them
 *  away. RabbitMQ asks for the right to configure a queue even where the queue exists, and a user with the rights of
 *  one role has it for the queues of that role alone. Such a process looks which queues exist, and declares only those
 *  that are missing. */
export async function declareAll(onChannel: OnChannel, queues: Queues): Promise<void> {
  const work = queues.allWork()
  const calls = await onChannel(async channel => queues.allCalls(channel))
  const mayDeclare = await onChannel(channel => assertQueues(channel, work).then(() => true, falseFor(ACCESS_REFUSED)))
  if (mayDeclare) {
    for (const declaration of calls) await declareCalls(onChannel, declaration)
    return
  }
  let left = [...work, ...calls]
  for (;;) {
    const missing = await onChannel(channel => firstMissing(channel, left))
    if (missing === undefined) return
    if (calls.includes(missing)) await declareCalls(onChannel, missing)
    else await onChannel(channel => assertQueues(channel, [missing]))
    left = left.slice(left.indexOf(missing) + 1)
  }
}

/** Declares a queue of calls, or uses the one that is there under its name. One with the other durability (406) comes
 *  from another release or from another RabbitMQ of the cluster, and serves as well. A durable one lives on one node;
 *  while that node is away, RabbitMQ refuses to declare and to find it (404), but deletes it, and declares it on
 *  another node. The calls in it are past their budget soon anyway. */
export async function declareCalls(onChannel: OnChannel, { name, options }: Declaration): Promise<void> {
  const declared = await onChannel(channel =>
    channel.assertQueue(name, options).then(() => true, falseFor(ACCESS_REFUSED, NOT_FOUND, PRECONDITION_FAILED)),
  )
  if (declared) return
  // Another process may have declared it anew meanwhile, and serve it.
  const found = await onChannel(channel => channel.checkQueue(name).then(() => true, falseFor(NOT_FOUND)))
  if (found) return
  await onChannel(async channel => {
    // With `ifEmpty` RabbitMQ would refuse: it cannot know whether a queue on a lost node is empty.
    await channel.deleteQueue(name)
    await channel.assertQueue(name, options)
  })
}

async function firstMissing(channel: Channel, declarations: Declaration[]): Promise<Declaration | undefined> {
  for (const declaration of declarations)
    if (!(await channel.checkQueue(declaration.name).then(() => true, falseFor(NOT_FOUND)))) return declaration
}

const ACCESS_REFUSED = 403
export const NOT_FOUND = 404
const PRECONDITION_FAILED = 406

/** For a call that RabbitMQ may refuse with these codes. Other errors are thrown. */
export const falseFor =
  (...codes: number[]) =>
  (error: unknown): false => {
    if (error instanceof Error && 'code' in error && codes.includes(Number(error.code))) return false
    throw error
  }

/** In a cluster a transient queue can be declared on another node at once when its node is lost, which suits calls. RabbitMQ 4 deprecates
 *  transient queues, and 4.3 refuses them. */
const refusesTransientQueues = ({ connection }: Channel): boolean =>
  Number.parseInt(connection.serverProperties.version, 10) >= 4
