// A work queue in memory: publish → consume, with retries by the clock and dead letters. Bodies travel as JSON text, so that
// publisher, handler and the next attempt share no object and see what they would see on RabbitMQ.
import type { Clock } from '../../clock.ts'
import { type Trace, withTrace } from '../../trace.ts'
import { Unavailable } from '../../unavailable.ts'
import type { DeadLetters, DeliveredMessage, Depth, Flow, Message, Outcome } from '../broker.ts'
import type { Deaths } from '../deaths.ts'
import { createDispatcher, errorOf, type HandlerResult, type Settlement, settlementOf } from '../dispatcher.ts'
import type { AttachedConsumer } from '../pausable-consumer.ts'
import type { WorkQueue } from '../topology.ts'
import { createMemoryDeadLetters } from './dead-letters.ts'
import { createSharedQueue, type Waiting } from './shared-queue.ts'

export interface Log {
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
}

export interface WorkQueueOptions {
  queue: WorkQueue
  delays: readonly number[]
  clock: Clock
  log?: Log | undefined
  deaths: Pick<Deaths, 'record' | 'recordThrow'>
}

export interface MemoryWorkQueue {
  /** Resolves when the message is done or dead. When the sweeper publishes the same id meanwhile, both wait for the one message. */
  publish(message: Message): Promise<void>
  consume(handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>, flow: Flow): AttachedConsumer
  depth(): Depth
  dead: DeadLetters
  close(graceMs?: number): Promise<void>
}

/** How many lost dead letters one line of the log stands for. */
const LOST_PER_LINE = 1_000

interface QueuedMessage extends Waiting {
  readonly id: string
  /** JSON. */
  readonly body: string
  readonly trace: Trace | undefined
  readonly publishedAt: number
  attempt: number
  /** How often it has failed unforeseen. */
  failures: number
  redelivered: boolean
  readonly publishedAgain?: boolean | undefined
  readonly publishers: { resolve(): void; reject(error: Error): void }[]
}

export function createWorkQueue({ queue: name, delays, clock, log, deaths }: WorkQueueOptions): MemoryWorkQueue {
  const queue = createSharedQueue<QueuedMessage>(clock)
  /** Every message that waits, is being handled or is to be retried, by id. */
  const unfinished = new Map<string, QueuedMessage>()
  const retries = new Map<QueuedMessage, () => void>()
  const dead = createMemoryDeadLetters(({ id, body, trace, publishedAt }) => {
    if (!unfinished.has(id)) enqueue({ id, body, trace, publishedAt, publishedAgain: true })
  })
  let closed = false
  let lost = 0

  function enqueue(
    work: Pick<QueuedMessage, 'id' | 'body' | 'trace' | 'publishedAt' | 'publishedAgain'>,
  ): QueuedMessage {
    const message: QueuedMessage = {
      ...work,
      attempt: 1,
      failures: 0,
      redelivered: false,
      publishers: [],
      readySince: clock.now(),
    }
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
      message.readySince = clock.now()
      queue.push(message)
    })
    retries.set(message, cancel)
  }

  function moveToDeadLetters(
    { id, body, trace, publishedAt, attempt }: QueuedMessage,
    { reason, cause }: Extract<Settlement, { kind: 'dead' }>,
    error: unknown,
  ): void {
    deaths.record({ queue: name, id, attempt, reason, cause, ...withTrace(trace) }, error)
    const dropped = dead.add({ id, body, trace, publishedAt, attempt, reason, diedAt: clock.now() })
    if (!dropped) return
    // One line for many: each new dead letter costs an old one from here on.
    if (lost % LOST_PER_LINE === 0) log?.error({ queue: name, id: dropped.id, lost: lost + 1 }, 'dead_letter.lost')
    lost += 1
  }

  function settle(message: QueuedMessage, handlerResult: HandlerResult<Outcome>): void {
    const settlement = settlementOf(handlerResult, delays, message.failures)
    const error = errorOf(handlerResult)
    if (settlement.kind === 'retry') {
      const { id, attempt, trace } = message
      if (error !== undefined)
        deaths.recordThrow({ queue: name, id, attempt, ...withTrace(trace) }, settlement.afterMs, error)
      message.failures = settlement.failures
      if (closed) rejectPublishers(message)
      else retryLater(message, settlement.afterMs)
    } else {
      if (settlement.kind === 'dead') moveToDeadLetters(message, settlement, error)
      finish(message)
    }
  }

  return {
    publish: async ({ id, body: value, trace, publishedAgain }) => {
      if (closed) throw new Unavailable('the broker is closed')
      const body = JSON.stringify(value) ?? 'null'
      const message = unfinished.get(id) ?? enqueue({ id, body, trace, publishedAt: clock.now(), publishedAgain })
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
    depth: () => ({ ...queue.length(), dead: dead.size(), brokerName: null }),
    dead,
    async close(graceMs) {
      closed = true
      for (const cancel of retries.values()) cancel()
      for (const message of [...queue.clear(), ...retries.keys()]) rejectPublishers(message)
      retries.clear()
      await queue.stopConsumers(graceMs)
      // Nothing is on disk: see dead-letters.ts.
      if (dead.size() > 0) log?.error({ queue: name, lost: dead.size() }, 'dead_letters.lost_at_stop')
    },
  }
}

const delivered = ({
  id,
  body,
  trace,
  attempt,
  redelivered,
  publishedAgain,
  publishedAt,
}: QueuedMessage): DeliveredMessage => ({
  id,
  body: JSON.parse(body),
  ...withTrace(trace),
  attempt,
  redelivered,
  ...(publishedAgain ? { publishedAgain } : {}),
  publishedAt,
})
