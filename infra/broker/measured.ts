// Any broker, measured: what was published, called and handled, how long it waited and took. It changes nothing else.
import type { Clock } from '../clock.ts'
import type { Metrics } from '../metrics.ts'
import { Unavailable } from '../unavailable.ts'
import { type Broker, type BrokerState, CallTimeout, type Delivered, Unroutable } from './broker.ts'
import { type Queue, topology } from './topology.ts'

const STATES: readonly BrokerState[] = ['up', 'blocked', 'down']
const { calls, work } = topology({ channel: [], webhook: [] })
const QUEUES = [...calls, ...Object.keys(work)] as Queue[]

/** A reading must not hang on a broker that does: its own trouble is just what it is read for. */
const DEPTH_WITHIN_MS = 2000

export function measuredBroker(broker: Broker, metrics: Metrics, clock: Clock): Broker {
  const { brokerMessages, brokerHandle, brokerWait, callDuration } = metrics
  watch(broker, metrics, clock)

  const waited = (queue: Queue, messages: readonly Delivered[]) => {
    const now = clock.now()
    // A repeated message waited by order; clocks of two hosts may differ by a little.
    for (const { attempt, publishedAt } of messages)
      if (attempt === 1) brokerWait.observe({ queue }, Math.max(now - publishedAt, 0) / 1000)
  }
  const handled = async <M, R>(queue: Queue, waiting: M[], handle: (waiting: M[]) => Promise<R>): Promise<R> => {
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
        brokerMessages.inc({ queue, outcome: failure(error) })
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
        stop({ outcome: failure(error) })
        throw error
      }
    },
    consume: (queue, handle, flow) =>
      broker.consume(
        queue,
        async waiting => {
          waited(queue, waiting)
          const outcomes = await handled(queue, waiting, handle)
          for (const { kind } of outcomes) brokerMessages.inc({ queue, outcome: kind })
          return outcomes
        },
        flow,
      ),
    serve: (queue, answer, flow) =>
      broker.serve(
        queue,
        async waiting => {
          const answers = await handled(queue, waiting, answer)
          brokerMessages.inc({ queue, outcome: 'answered' }, answers.length)
          return answers
        },
        flow,
      ),
    depth: queue => broker.depth(queue),
    dead: queue => broker.dead(queue),
    state: () => broker.state(),
    close: graceMs => broker.close(graceMs),
  }
}

const failure = (error: unknown): string => {
  if (error instanceof Unavailable) return 'unavailable'
  if (error instanceof CallTimeout) return 'timeout'
  return error instanceof Unroutable ? 'unroutable' : 'failed'
}

function watch(broker: Broker, { beforeReading, brokerState, queueReady }: Metrics, clock: Clock): void {
  beforeReading(() => {
    const now = broker.state()
    for (const state of STATES) brokerState.set({ state }, state === now ? 1 : 0)
  })
  for (const queue of QUEUES)
    beforeReading(async () => {
      const ready = await within(clock, DEPTH_WITHIN_MS, broker.depth(queue)).catch(() => null)
      if (ready) queueReady.set({ queue }, ready.ready)
      else queueReady.remove({ queue })
    })
}

async function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T | null> {
  let cancel = (): void => undefined
  const late = new Promise<null>(resolve => {
    cancel = clock.after(ms, () => resolve(null))
  })
  return Promise.race([answer, late]).finally(() => cancel())
}
