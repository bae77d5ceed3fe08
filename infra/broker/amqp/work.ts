// publish → consume on RabbitMQ: turns outcomes into what the broker understands. `done` is an ack; `retry` and `dead` are a
// confirmed publish to the wait queue or the dead letters, and only then an ack, so a crash in between delivers twice, never not.
import type { ConsumeMessage } from 'amqplib'
import type { Delivered, Flow, Outcome } from '../broker.ts'
import { dispatcher, type Ended, outcomeOf } from '../dispatch.ts'
import type { WorkQueue } from '../topology.ts'
import { nap, pauseAfter } from './backoff.ts'
import type { Surroundings } from './channel.ts'
import { deliveredOf, lastWords, properties, stampOf } from './envelope.ts'
import type { Publisher } from './publisher.ts'
import { declare, type QueueNames, type Queues } from './queues.ts'
import { type Delivery, type Hand, type Subscription, subscription } from './subscription.ts'

export interface WorkOptions extends Surroundings {
  names: QueueNames
  queues: Queues
  delays: readonly number[]
  publisher: Pick<Publisher, 'send'>
}

type Move = Exclude<Outcome, { kind: 'done' }>

interface Job extends Delivery {
  delivered: Delivered
}

export function workConsumer(
  options: WorkOptions,
  queue: WorkQueue,
  handle: (waiting: Delivered[]) => Promise<Outcome[]>,
  flow: Flow,
): Subscription {
  const { names, queues, delays, publisher, backoff, clock, log } = options

  function mourn({ message }: Delivery, reason: string, ended?: Ended<Outcome>): void {
    const { id, attempt } = stampOf(message)
    const fields = { queue, id, attempt, reason }
    if (ended?.kind === 'failed') log.error({ ...fields, err: ended.error }, 'message.dead')
    else log.warn(fields, 'message.dead')
  }

  function destination(message: ConsumeMessage, outcome: Move) {
    const stamp = stampOf(message)
    if (outcome.kind === 'dead')
      return { to: names.dead(queue), stamped: lastWords(stamp, outcome.reason, clock.now()) }
    return { to: names.wait(queue, outcome.afterMs), stamped: properties({ ...stamp, attempt: stamp.attempt + 1 }) }
  }

  /** Tried until it is confirmed. Meanwhile the message stays in hand, so a blocked broker slows us down and nothing spins. */
  async function move(delivery: Delivery, outcome: Move, hand: Hand): Promise<void> {
    const { to, stamped } = destination(delivery.message, outcome)
    for (let failures = 0; hand.holds(delivery); failures += 1) {
      try {
        await publisher.send(to, delivery.message.content, stamped)
        return hand.ack(delivery)
      } catch (error) {
        log.warn({ queue, to, id: stamped.messageId, err: String(error) }, 'broker.outcome_not_saved')
        await nap(clock, pauseAfter(backoff, failures), hand.emptied)
      }
    }
  }

  return subscription<Job>({
    ...options,
    queue: names.queue(queue),
    flow,
    declareQueue: channel => declare(channel, queues.work(queue)),
    dispatch: hand =>
      dispatcher<Job, Outcome>({
        flow,
        clock,
        handle: jobs => handle(jobs.map(job => job.delivered)),
        settle(job, ended) {
          const outcome = outcomeOf(ended, delays)
          if (outcome.kind === 'done') return hand.ack(job)
          if (outcome.kind === 'dead') mourn(job, outcome.reason, ended)
          return move(job, outcome, hand)
        },
        handBack: jobs => jobs.forEach(hand.giveBack),
      }),
    unpack(delivery, hand) {
      try {
        return [{ ...delivery, delivered: deliveredOf(delivery.message) }]
      } catch {
        // Not the parser's own words: they quote the content, and this goes into the log.
        const reason = 'unreadable: its content is not JSON'
        mourn(delivery, reason)
        void move(delivery, { kind: 'dead', reason }, hand)
        return []
      }
    },
  })
}
