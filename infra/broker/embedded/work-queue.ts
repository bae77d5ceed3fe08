// A work queue in memory: publish → consume, with retries by the clock and dead letters.
// Bodies travel as JSON text: publisher, handler and the next attempt share nothing, and see what they would see on RabbitMQ.
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Consumer, DeadLetters, DeliveredMessage, Depth, Flow, Message, Outcome } from '../broker.ts'
import { createDispatcher, type HandlerResult, outcomeOf } from '../dispatcher.ts'
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
  /** Resolves when the message is done or dead. The sweeper may publish the same work again: then both wait for the one message. */
  publish(message: Message): Promise<void>
  consume(handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>, flow: Flow): Consumer
  depth(): Depth
  dead: DeadLetters
  close(graceMs?: number): Promise<void>
}

interface Job {
  readonly id: string
  /** JSON. */
  readonly body: string
  readonly publishedAt: number
  attempt: number
  readonly publishers: { resolve(): void; reject(error: Error): void }[]
}

export function createWorkQueue({ queue: name, delays, clock, log }: WorkQueueOptions): MemoryWorkQueue {
  const queue = createSharedQueue<Job>()
  /** Every job that waits, is in hand or is to be retried. */
  const jobs = new Map<string, Job>()
  const retries = new Map<Job, () => void>()
  const dead = createMemoryDeadLetters(({ id, body, publishedAt }) => {
    if (!jobs.has(id)) enqueue({ id, body, publishedAt })
  })
  let closed = false

  function enqueue(work: Pick<Job, 'id' | 'body' | 'publishedAt'>): Job {
    const job: Job = { ...work, attempt: 1, publishers: [] }
    jobs.set(job.id, job)
    queue.push(job)
    return job
  }

  function finish(job: Job): void {
    jobs.delete(job.id)
    for (const { resolve } of job.publishers) resolve()
  }

  function rejectPublishers(job: Job): void {
    jobs.delete(job.id)
    for (const { reject } of job.publishers) reject(new Unavailable(`closed before ${name} was done with ${job.id}`))
  }

  function retryLater(job: Job, delay: number): void {
    job.attempt += 1
    const cancel = clock.after(delay, () => {
      retries.delete(job)
      queue.push(job)
    })
    retries.set(job, cancel)
  }

  function moveToDeadLetters(
    { id, body, publishedAt, attempt }: Job,
    reason: string,
    handlerResult: HandlerResult<Outcome>,
  ): void {
    const fields = { queue: name, id, attempt, reason }
    if (handlerResult.kind === 'failed') log?.error({ ...fields, err: handlerResult.error }, 'message.dead')
    else log?.warn(fields, 'message.dead')
    const dropped = dead.add({ id, body, publishedAt, attempt, reason, diedAt: clock.now() })
    if (dropped) log?.error({ queue: name, id: dropped.id, reason: dropped.reason }, 'dead_letter.lost')
  }

  function settle(job: Job, handlerResult: HandlerResult<Outcome>): void {
    const outcome = outcomeOf(handlerResult, delays)
    if (outcome.kind !== 'retry') {
      if (outcome.kind === 'dead') moveToDeadLetters(job, outcome.reason, handlerResult)
      finish(job)
    } else if (closed) rejectPublishers(job)
    else retryLater(job, outcome.afterMs)
  }

  return {
    publish: async message => {
      if (closed) throw new Unavailable('the broker is closed')
      const body = JSON.stringify(message.body) ?? 'null'
      const job = jobs.get(message.id) ?? enqueue({ id: message.id, body, publishedAt: clock.now() })
      return new Promise((resolve, reject) => void job.publishers.push({ resolve, reject }))
    },
    consume: (handle, flow) =>
      queue.attach(flow.prefetch, release =>
        createDispatcher<Job, Outcome>({
          flow,
          clock,
          handle: held => handle(held.map(delivered)),
          settle(job, handlerResult) {
            release()
            settle(job, handlerResult)
          },
          requeue: held => (closed ? held.forEach(rejectPublishers) : queue.requeue(held)),
        }),
      ),
    depth: queue.depth,
    dead,
    async close(graceMs) {
      closed = true
      for (const cancel of retries.values()) cancel()
      for (const job of [...queue.clear(), ...retries.keys()]) rejectPublishers(job)
      retries.clear()
      await queue.stopConsumers(graceMs)
    },
  }
}

const delivered = ({ id, body, attempt, publishedAt }: Job): DeliveredMessage => ({
  id,
  body: JSON.parse(body),
  attempt,
  publishedAt,
})
