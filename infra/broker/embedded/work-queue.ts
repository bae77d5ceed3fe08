// A work queue in memory: publish → consume, with retries by the clock and dead letters. Bodies travel as JSON text, so that
// publisher, handler and the next attempt share no object and see what they would see on RabbitMQ.
import type { Clock } from '../../clock.ts'
import { requestOf, type Trace, withTrace } from '../../trace.ts'
import { Unavailable } from '../../unavailable.ts'
import type { DeadLetters, DeliveredMessage, Depth, Flow, Message, Outcome } from '../broker.ts'
import { createDispatcher, type HandlerResult, outcomeOf } from '../dispatcher.ts'
import type { AttachedConsumer } from '../pausable-consumer.ts'
import { createMemoryDeadLetters } from './dead-letters.ts'
import { createSharedQueue } from './shared-queue.ts'

export interface Log {
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}

export interface WorkQueueOptions {
  queue: string
  delays: readonly number[]
  clock: Clock
  log?: Log | undefined
}

export interface MemoryWorkQueue {
  /** Resolves when the message is done or dead. When the sweeper publishes the same id meanwhile, both wait for the one message. */
  publish(message: Message): Promise<void>
  consume(handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>, flow: Flow): AttachedConsumer
  depth(): Depth
  dead: DeadLetters
  close(graceMs?: number): Promise<void>
}

interface QueuedMessage {
  readonly id: string
  /** JSON. */
  readonly body: string
  readonly trace: Trace | undefined
  readonly publishedAt: number
  attempt: number
  redelivered: boolean
  readonly publishers: { resolve(): void; reject(error: Error): void }[]
}

export function createWorkQueue({ queue: name, delays, clock, log }: WorkQueueOptions): MemoryWorkQueue {
  const queue = createSharedQueue<QueuedMessage>()
  /** Every message that waits, is being handled or is to be retried, by id. */
  const unfinished = new Map<string, QueuedMessage>()
  const retries = new Map<QueuedMessage, () => void>()
  const dead = createMemoryDeadLetters(({ id, body, trace, publishedAt }) => {
    if (!unfinished.has(id)) enqueue({ id, body, trace, publishedAt })
  })
  let closed = false

  function enqueue(work: Pick<QueuedMessage, 'id' | 'body' | 'trace' | 'publishedAt'>): QueuedMessage {
    const message: QueuedMessage = { ...work, attempt: 1, redelivered: false, publishers: [] }
    unfinished.set(message.id, message)
    queue.push(message)
    return message
  }

  function finish(message: QueuedMessage): void {
    unfinished.delete(message.id)
    for (const { resolve } of message.publishers) resolve()
  }

  function rejectPublishers(message: QueuedMessage): void {
    unfinished.delete(message.id)
    for (const { reject } of message.publishers)
      reject(new Unavailable(`closed before ${name} was done with ${message.id}`))
  }

  function requeue(messages: QueuedMessage[]): void {
    for (const message of messages) message.redelivered = true
    queue.requeue(messages)
  }

  function retryLater(message: QueuedMessage, delay: number): void {
    message.attempt += 1
    const cancel = clock.after(delay, () => {
      retries.delete(message)
      queue.push(message)
    })
    retries.set(message, cancel)
  }

  function moveToDeadLetters(
    { id, body, trace, publishedAt, attempt }: QueuedMessage,
    reason: string,
    handlerResult: HandlerResult<Outcome>,
  ): void {
    const fields = { queue: name, id, attempt, reason, ...requestOf({ trace }) }
    if (handlerResult.kind === 'failed') log?.error({ ...fields, err: handlerResult.error }, 'message.dead')
    else log?.warn(fields, 'message.dead')
    const dropped = dead.add({ id, body, trace, publishedAt, attempt, reason, diedAt: clock.now() })
    if (dropped)
      log?.error({ queue: name, id: dropped.id, reason: dropped.reason, ...requestOf(dropped) }, 'dead_letter.lost')
  }

  function settle(message: QueuedMessage, handlerResult: HandlerResult<Outcome>): void {
    const outcome = outcomeOf(handlerResult, delays)
    if (outcome.kind !== 'retry') {
      if (outcome.kind === 'dead') moveToDeadLetters(message, outcome.reason, handlerResult)
      finish(message)
    } else if (closed) rejectPublishers(message)
    else retryLater(message, outcome.afterMs)
  }

  return {
    publish: async ({ id, body: value, trace }) => {
      if (closed) throw new Unavailable('the broker is closed')
      const body = JSON.stringify(value) ?? 'null'
      const message = unfinished.get(id) ?? enqueue({ id, body, trace, publishedAt: clock.now() })
      return new Promise((resolve, reject) => void message.publishers.push({ resolve, reject }))
    },
    consume: (handle, flow) =>
      queue.attach(flow.prefetch, release =>
        createDispatcher<QueuedMessage, Outcome>({
          flow,
          clock,
          handle: messages => handle(messages.map(delivered)),
          settle(message, handlerResult) {
            release()
            settle(message, handlerResult)
          },
          requeue: messages => (closed ? messages.forEach(rejectPublishers) : requeue(messages)),
        }),
      ),
    depth: queue.depth,
    dead,
    async close(graceMs) {
      closed = true
      for (const cancel of retries.values()) cancel()
      for (const message of [...queue.clear(), ...retries.keys()]) rejectPublishers(message)
      retries.clear()
      await queue.stopConsumers(graceMs)
    },
  }
}

const delivered = ({ id, body, trace, attempt, redelivered, publishedAt }: QueuedMessage): DeliveredMessage => ({
  id,
  body: JSON.parse(body),
  ...withTrace(trace),
  attempt,
  redelivered,
  publishedAt,
})
