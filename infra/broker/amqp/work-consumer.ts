// The consuming side of work. In: deliveries of a work queue. Out: their outcomes, in RabbitMQ's terms. `done` is an ack. `retry` and
// `dead` are a confirmed publish to the wait queue or to the dead letters, and only then an ack: a crash in between delivers the
// message twice, and never loses it.
import type { ConsumeMessage } from 'amqplib'
import { sleep } from '../../timeout.ts'
import { requestOf, withTrace } from '../../trace.ts'
import type { DeathCause, DeliveredMessage, Flow, Outcome } from '../broker.ts'
import type { Deaths } from '../deaths.ts'
import { createDispatcher, errorOf, type Settlement, settlementOf } from '../dispatcher.ts'
import type { WorkQueue } from '../topology.ts'
import { backoffDelay } from './backoff.ts'
import type { AmqpChannelDeps } from './channel.ts'
import {
  DELIVERY_LIMIT_REASON,
  deadLetterProperties,
  deliveredOf,
  messageProperties,
  metaOf,
  returnsOf,
} from './envelope.ts'
import type { Publisher } from './publisher.ts'
import { assertQueues, type QueueNames, type Queues } from './queues.ts'
import {
  type Acknowledger,
  type AmqpDelivery,
  createSubscription,
  type Subscription,
  type SubscriptionOptions,
} from './subscription.ts'

export interface WorkOptions extends AmqpChannelDeps, Pick<SubscriptionOptions<unknown>, 'whenPublishing'> {
  names: QueueNames
  queues: Queues
  delays: readonly number[]
  publisher: Pick<Publisher, 'send'>
  deaths: Pick<Deaths, 'record' | 'recordThrow'>
  /** How often consumers may die with a message, or return it. RabbitMQ makes it a dead letter at one more: the consumer comes first, so
   *  that the death is logged and counted. */
  deliveryLimit: number
}

type RetryOrDead = Exclude<Settlement, { kind: 'done' }>

interface WorkDelivery extends AmqpDelivery {
  delivered: DeliveredMessage
}

export function createWorkConsumer(
  options: WorkOptions,
  queue: WorkQueue,
  handle: (waiting: DeliveredMessage[]) => Promise<Outcome[]>,
  flow: Flow,
): Subscription {
  const { names, queues, delays, publisher, deaths, deliveryLimit, backoff, clock, log } = options

  function recordDeath({ message }: AmqpDelivery, reason: string, cause: DeathCause, error?: unknown): void {
    const { id, attempt, trace } = metaOf(message)
    deaths.record({ queue, id, attempt, reason, cause, ...withTrace(trace) }, error)
  }

  /** For a message that no handler gets. */
  function bury(delivery: AmqpDelivery, reason: string, cause: DeathCause, acknowledger: Acknowledger): [] {
    recordDeath(delivery, reason, cause)
    void move(delivery, { kind: 'dead', reason, cause }, acknowledger)
    return []
  }

  function destination(message: ConsumeMessage, outcome: RetryOrDead) {
    const meta = metaOf(message)
    if (outcome.kind === 'dead')
      return { to: names.dead(queue), publishOptions: deadLetterProperties(meta, outcome.reason, clock.now()) }
    return {
      to: names.wait(queue, outcome.afterMs),
      publishOptions: messageProperties({ ...meta, attempt: meta.attempt + 1, failures: outcome.failures }),
    }
  }

  /** Tries until the publish is confirmed. The message stays unsettled meanwhile, so a blocked broker slows this consumer down. */
  async function move(delivery: AmqpDelivery, outcome: RetryOrDead, acknowledger: Acknowledger): Promise<void> {
    const { to, publishOptions } = destination(delivery.message, outcome)
    for (let failures = 0; acknowledger.canSettle(delivery); failures += 1) {
      try {
        await publisher.send(to, delivery.message.content, publishOptions)
        return acknowledger.ack(delivery)
      } catch (error) {
        const { id, trace } = metaOf(delivery.message)
        const fields = { queue, to_queue: to, id, ...requestOf({ trace }) }
        log.warn({ ...fields, err: String(error) }, 'broker.outcome_not_saved')
        await sleep(clock, backoffDelay(backoff, failures), acknowledger.closed)
      }
    }
  }

  return createSubscription<WorkDelivery>({
    ...options,
    queue: names.queue(queue),
    flow,
    declareQueue: channel => assertQueues(channel, queues.work(queue)),
    dispatch: acknowledger =>
      createDispatcher<WorkDelivery, Outcome>({
        flow,
        clock,
        handle: deliveries => handle(deliveries.map(({ delivered }) => delivered)),
        settle(delivery, handlerResult) {
          const { id, attempt, failures, trace } = metaOf(delivery.message)
          const settlement = settlementOf(handlerResult, delays, failures)
          if (settlement.kind === 'done') return acknowledger.ack(delivery)
          const error = errorOf(handlerResult)
          if (settlement.kind === 'dead') recordDeath(delivery, settlement.reason, settlement.cause, error)
          else if (error !== undefined)
            deaths.recordThrow({ queue, id, attempt, ...withTrace(trace) }, settlement.afterMs, error)
          return move(delivery, settlement, acknowledger)
        },
        requeue: deliveries => deliveries.forEach(acknowledger.requeue),
      }),
    unpack(delivery, acknowledger) {
      if (returnsOf(delivery.message) >= deliveryLimit)
        return bury(delivery, DELIVERY_LIMIT_REASON, 'delivery_limit', acknowledger)
      try {
        const { channel, message } = delivery
        return [{ channel, message, delivered: deliveredOf(message) }]
      } catch {
        // JSON.parse's own message would quote the content, and this reason is logged.
        return bury(delivery, 'unreadable: its content is not JSON', 'unreadable', acknowledger)
      }
    },
  })
}
