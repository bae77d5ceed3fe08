// A work queue in memory: publish → consume, with retries by the clock and dead letters.
// Bodies travel as JSON text: publisher, handler and the next attempt share nothing, and see what they would see on RabbitMQ.
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import type { Consumer, DeadLetters, Delivered, Depth, Flow, Message, Outcome } from '../broker.ts'
import { dispatcher, type Ended, outcomeOf } from '../dispatch.ts'
import { graves } from './dead.ts'
import { sharedQueue } from './queue.ts'

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

export interface MemoryWork {
  /** Resolves when the message is done or dead. The sweeper may publish the same work again: then both wait for the one message. */
  publish(message: Message): Promise<void>
  consume(handle: (waiting: Delivered[]) => Promise<Outcome[]>, flow: Flow): Consumer
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

export function workQueue({ queue: name, delays, clock, log }: WorkQueueOptions): MemoryWork {
  const queue = sharedQueue<Job>()
  /** Every job that waits, is in hand or is to be retried. */
  const jobs = new Map<string, Job>()
  const retries = new Map<Job, () => void>()
  const dead = graves(({ id, body, publishedAt }) => {
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

  function giveUp(job: Job): void {
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

  function bury({ id, body, publishedAt, attempt }: Job, reason: string, ended: Ended<Outcome>): void {
    const fields = { queue: name, id, attempt, reason }
    if (ended.kind === 'failed') log?.error({ ...fields, err: ended.error }, 'message.dead')
    else log?.warn(fields, 'message.dead')
    const lost = dead.bury({ id, body, publishedAt, attempt, reason, diedAt: clock.now() })
    if (lost) log?.error({ queue: name, id: lost.id, reason: lost.reason }, 'dead_letter.lost')
  }

  function settle(job: Job, ended: Ended<Outcome>): void {
    const outcome = outcomeOf(ended, delays)
    if (outcome.kind !== 'retry') {
      if (outcome.kind === 'dead') bury(job, outcome.reason, ended)
      finish(job)
    } else if (closed) giveUp(job)
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
      queue.attach(flow.prefetch, free =>
        dispatcher<Job, Outcome>({
          flow,
          clock,
          handle: held => handle(held.map(delivered)),
          settle(job, ended) {
            free()
            settle(job, ended)
          },
          handBack: held => (closed ? held.forEach(giveUp) : queue.giveBack(held)),
        }),
      ),
    depth: queue.depth,
    dead,
    async close(graceMs) {
      closed = true
      for (const cancel of retries.values()) cancel()
      for (const job of [...queue.clear(), ...retries.keys()]) giveUp(job)
      retries.clear()
      await queue.stopConsumers(graceMs)
    },
  }
}

const delivered = ({ id, body, attempt, publishedAt }: Job): Delivered => ({
  id,
  body: JSON.parse(body),
  attempt,
  publishedAt,
})
