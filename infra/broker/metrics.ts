// Measures any broker. In: a broker. Out: the same broker, which counts published, called and handled messages and observes how long
// they waited and took. What the broker knows of its queues is the same for all processes, so one of them shows it: `showQueues`.
import type { Gauge } from 'prom-client'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import { createReading } from '../reading.ts'
import { Unavailable } from '../unavailable.ts'
import {
  type Broker,
  type BrokerState,
  CallTimeout,
  DEATH_CAUSES,
  type DeliveredMessage,
  type Depth,
  Unroutable,
} from './broker.ts'
import { depthIfKnown } from './depth.ts'
import { isWorkQueue, QUEUES, type Queue } from './topology.ts'

const BROKER_STATES: readonly BrokerState[] = ['up', 'blocked', 'down']

export function instrumentBroker(broker: Broker, metrics: Metrics, clock: Clock): Broker {
  const { brokerMessages, brokerHandle, brokerWait, calls, callDuration } = metrics
  showState(broker, metrics)
  countDeaths(broker, metrics)
  /** When the message was published that was taken last from each queue that this process consumes. */
  const lastTaken = new Map<Queue, number>()
  showOldest(broker, metrics, clock, lastTaken)

  const observeWait = (queue: Queue, messages: readonly DeliveredMessage[]) => {
    const now = clock.now()
    for (const { attempt, publishedAt } of messages) {
      // A retried message waited on purpose, so its wait is left out. When it came back into the queue is not known: without the time of
      // now, the age would only rise while a queue holds nothing but retries.
      if (attempt !== 1) {
        lastTaken.set(queue, now)
        continue
      }
      // The clocks of two hosts may differ a little, so no wait is negative.
      brokerWait.observe({ queue }, Math.max(now - publishedAt, 0) / 1000)
      lastTaken.set(queue, publishedAt)
    }
  }
  const timeHandler = async <M, R>(queue: Queue, waiting: M[], handle: (waiting: M[]) => Promise<R>): Promise<R> => {
    const stop = brokerHandle.startTimer({ queue })
    try {
      return await handle(waiting)
    } catch (error) {
      brokerMessages.inc({ queue, outcome: 'threw' }, waiting.length)
      throw error
    } finally {
      stop()
    }
  }

  return {
    async publish(queue, message) {
      try {
        await broker.publish(queue, message)
        brokerMessages.inc({ queue, outcome: 'published' })
      } catch (error) {
        brokerMessages.inc({ queue, outcome: failureOutcome(error) })
        throw error
      }
    },
    async request(queue, message, budgetMs) {
      const stop = callDuration.startTimer({ queue })
      try {
        const answer = await broker.request(queue, message, budgetMs)
        calls.inc({ queue, outcome: 'answered' })
        return answer
      } catch (error) {
        calls.inc({ queue, outcome: failureOutcome(error) })
        throw error
      } finally {
        stop()
      }
    },
    consume(queue, handle, flow) {
      lastTaken.set(queue, clock.now())
      return broker.consume(
        queue,
        async waiting => {
          observeWait(queue, waiting)
          const outcomes = await timeHandler(queue, waiting, handle)
          for (const { kind } of outcomes) brokerMessages.inc({ queue, outcome: kind })
          return outcomes
        },
        flow,
      )
    },
    serve: (queue, answer, flow) =>
      broker.serve(
        queue,
        async waiting => {
          const answers = await timeHandler(queue, waiting, answer)
          brokerMessages.inc({ queue, outcome: 'answered' }, answers.length)
          return answers
        },
        flow,
      ),
    depth: queue => broker.depth(queue),
    dead: queue => broker.dead(queue),
    onDeath: listener => broker.onDeath(listener),
    state: () => broker.state(),
    whenUp: () => broker.whenUp(),
    roundTrip: budgetMs => broker.roundTrip(budgetMs),
    close: graceMs => broker.close(graceMs),
  }
}

const failureOutcome = (error: unknown): string => {
  if (error instanceof Unroutable) return 'unroutable'
  if (error instanceof Unavailable) return 'unavailable'
  return error instanceof CallTimeout ? 'timeout' : 'failed'
}

/** Every series begins with 0: Prometheus sees no increase in a series that begins with its first death. */
function countDeaths(broker: Broker, { messagesDied }: Metrics): void {
  for (const queue of QUEUES)
    for (const cause of isWorkQueue(queue) ? DEATH_CAUSES : (['unreadable'] as const))
      messagesDied.inc({ queue, cause }, 0)
  broker.onDeath(({ queue, cause }) => messagesDied.inc({ queue, cause }))
}

function showState(broker: Broker, { beforeScrape, brokerState }: Metrics): void {
  beforeScrape(() => {
    const now = broker.state()
    for (const state of BROKER_STATES) brokerState.set({ state }, state === now ? 1 : 0)
  })
}

/** RabbitMQ does not say how old the oldest message is. Queues are first in, first out: what waits was published after what was taken last,
 *  and after the queue was seen empty. */
function showOldest(
  broker: Broker,
  { showReading, queueOldest }: Metrics,
  clock: Clock,
  lastTaken: Map<Queue, number>,
): void {
  async function read(): Promise<Depths> {
    const depths = await readDepths(broker, [...lastTaken.keys()], clock)
    for (const [queue, depth] of depths) if (depth?.ready === 0) lastTaken.set(queue, clock.now())
    return depths
  }
  showReading({
    name: 'oldest_messages',
    reading: createReading({ read, clock }),
    show(depths) {
      const now = clock.now()
      for (const [queue, publishedAt] of lastTaken) {
        const depth = depths?.get(queue)
        if (depth === undefined) queueOldest.remove({ queue })
        else
          queueOldest.set({ queue }, depth.ready === 0 ? 0 : (depth.oldestMs ?? Math.max(now - publishedAt, 0)) / 1000)
      }
    },
  })
}

/** Shows the queues as the broker knows them, while `isShown` says so: if each process did, the sum over all of them would be wrong. */
export function showQueues(
  broker: Pick<Broker, 'depth'>,
  { showReading, queueReady, queueConsumers, queueDeadLetters }: Metrics,
  clock: Clock,
  isShown: () => boolean,
): void {
  showReading({
    name: 'queues',
    reading: createReading({ read: () => readDepths(broker, QUEUES, clock), clock }),
    isShown,
    show(depths) {
      for (const queue of QUEUES) {
        const depth = depths?.get(queue)
        const show = (gauge: Gauge<'queue'>, value: number | undefined): void =>
          value === undefined ? gauge.remove({ queue }) : gauge.set({ queue }, value)
        show(queueReady, depth?.ready)
        show(queueConsumers, depth?.consumers)
        if (isWorkQueue(queue)) show(queueDeadLetters, depth?.dead)
      }
    },
  })
}

/** Undefined for a queue of which the broker does not say it. */
type Depths = ReadonlyMap<Queue, Depth | undefined>

async function readDepths(broker: Pick<Broker, 'depth'>, queues: readonly Queue[], clock: Clock): Promise<Depths> {
  return new Map(
    await Promise.all(queues.map(async queue => [queue, await depthIfKnown(broker, queue, clock)] as const)),
  )
}
