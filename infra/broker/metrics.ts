// Measures any broker. In: a broker. Out: the same broker, which counts published, called and handled messages and observes how long
// they waited and took.
import type { Gauge } from 'prom-client'
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import { withTimeout } from '../timeout.ts'
import { Unavailable } from '../unavailable.ts'
import {
  type Broker,
  type BrokerState,
  CallTimeout,
  DEATH_CAUSES,
  type DeliveredMessage,
  Unroutable,
} from './broker.ts'
import { isWorkQueue, QUEUES, type Queue } from './topology.ts'

const BROKER_STATES: readonly BrokerState[] = ['up', 'blocked', 'down']

/** A scrape must not hang when the broker hangs: that is when operators need the metrics. */
const DEPTH_TIMEOUT_MS = 2000

export function instrumentBroker(broker: Broker, metrics: Metrics, clock: Clock): Broker {
  const { brokerMessages, brokerHandle, brokerWait, callDuration } = metrics
  collectGauges(broker, metrics, clock)
  countDeaths(broker, metrics)

  const observeWait = (queue: Queue, messages: readonly DeliveredMessage[]) => {
    const now = clock.now()
    // A retried message waited on purpose, so it is left out. The clocks of two hosts may differ a little, so no wait is negative.
    for (const { attempt, publishedAt } of messages)
      if (attempt === 1) brokerWait.observe({ queue }, Math.max(now - publishedAt, 0) / 1000)
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
        stop({ outcome: 'answered' })
        return answer
      } catch (error) {
        stop({ outcome: failureOutcome(error) })
        throw error
      }
    },
    consume: (queue, handle, flow) =>
      broker.consume(
        queue,
        async waiting => {
          observeWait(queue, waiting)
          const outcomes = await timeHandler(queue, waiting, handle)
          for (const { kind } of outcomes) brokerMessages.inc({ queue, outcome: kind })
          return outcomes
        },
        flow,
      ),
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

function collectGauges(
  broker: Broker,
  { beforeScrape, brokerState, queueReady, queueConsumers, queueDeadLetters }: Metrics,
  clock: Clock,
): void {
  beforeScrape(() => {
    const now = broker.state()
    for (const state of BROKER_STATES) brokerState.set({ state }, state === now ? 1 : 0)
  })
  for (const queue of QUEUES)
    beforeScrape(async () => {
      const depth = await withTimeout(clock, DEPTH_TIMEOUT_MS, broker.depth(queue)).catch(() => undefined)
      const show = (gauge: Gauge<'queue'>, value: number | undefined): void =>
        value === undefined ? gauge.remove({ queue }) : gauge.set({ queue }, value)
      show(queueReady, depth?.ready)
      show(queueConsumers, depth?.consumers)
      if (isWorkQueue(queue)) show(queueDeadLetters, depth?.dead)
    })
}
