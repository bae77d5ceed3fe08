// One consumer: a channel of its own, a prefetch of its own, attached again without anyone's help after a cut, a closed channel,
// a deleted queue or a cancellation. In: deliveries. Out: items for the dispatcher.
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Consumer, Flow } from '../broker.ts'
import type { Dispatcher } from '../dispatch.ts'
import { nap } from './backoff.ts'
import { type HealingChannel, healingChannel, type Surroundings } from './channel.ts'

/** A message and the channel it came on: the only one that may settle it. */
export interface Delivery {
  channel: Channel
  message: ConsumeMessage
}

export interface Subscription extends Consumer {
  /** Resolves once attached for the first time. */
  opened: Promise<void>
}

export interface Hand {
  /** False when the channel of a delivery is gone: RabbitMQ then has the message back already. */
  holds(delivery: Delivery): boolean
  ack(delivery: Delivery): void
  giveBack(delivery: Delivery): void
  /** Aborted when nothing held can be settled any more. */
  emptied: AbortSignal
}

export interface SubscriptionOptions<Item> extends Surroundings {
  queue: string
  flow: Flow
  declareQueue: (channel: Channel) => Promise<void>
  /** Makes the dispatcher that settles through this hand. */
  dispatch: (hand: Hand) => Dispatcher<Item>
  /** The items in a delivery. */
  unpack: (delivery: Delivery, hand: Hand) => Item[]
}

const CANCEL_MS = 1_000

export function subscription<Item>(options: SubscriptionOptions<Item>): Subscription {
  const { queue, flow, declareQueue, unpack, clock, log } = options
  const emptied = new AbortController()
  let stopping: Promise<void> | undefined
  let tag = ''

  const channel: HealingChannel<Channel> = healingChannel<Channel>(options, {
    name: queue,
    open: model => model.createChannel(),
    async prepare(opened) {
      await declareQueue(opened)
      await opened.prefetch(flow.prefetch)
      const consumer = await opened.consume(queue, message => {
        if (message) deliver({ channel: opened, message })
        else cancelled(opened)
      })
      tag = consumer.consumerTag
    },
    lost: () => dispatcher.forget(),
  })

  const whileHeld = (settle: (delivery: Delivery) => void) => (delivery: Delivery) => {
    if (!channel.isOpen(delivery.channel)) return
    try {
      settle(delivery)
    } catch (error) {
      // The channel is closing and has not said so yet. RabbitMQ delivers again.
      log.warn({ queue, err: String(error) }, 'broker.not_settled')
    }
  }
  const hand: Hand = {
    holds: delivery => channel.isOpen(delivery.channel),
    ack: whileHeld(({ channel, message }) => channel.ack(message)),
    giveBack: whileHeld(({ channel, message }) => channel.nack(message, false, true)),
    emptied: emptied.signal,
  }
  const dispatcher = options.dispatch(hand)

  function deliver(delivery: Delivery): void {
    for (const item of unpack(delivery, hand)) dispatcher.accept(item)
  }

  function cancelled(opened: Channel): void {
    log.warn({ queue }, 'broker.consumer_cancelled')
    channel.renew(opened)
  }

  /** Awaited before anything is given back, or it might come here again; but not for longer than there is. */
  async function cancel(graceMs = CANCEL_MS): Promise<void> {
    const cancelling = channel.ready()?.cancel(tag)
    if (!cancelling) return
    const over = new AbortController()
    cancelling.then(
      () => over.abort(),
      () => over.abort(),
    )
    await nap(clock, Math.min(graceMs, CANCEL_MS), over.signal)
  }

  async function stop(graceMs?: number): Promise<void> {
    channel.retire()
    await cancel(graceMs)
    await dispatcher.stop(graceMs)
    emptied.abort()
    await channel.close()
  }

  return {
    opened: channel.opened,
    attached: () => stopping === undefined && channel.ready() !== undefined,
    stop(graceMs) {
      stopping ??= stop(graceMs)
      return stopping
    },
  }
}
