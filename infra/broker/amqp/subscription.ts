// One consumer, with its own channel and prefetch. In: deliveries. Out: items for the dispatcher. It attaches again by itself after a lost
// connection, a closed channel, a deleted queue or a cancellation.
import type { Channel, ConsumeMessage } from 'amqplib'
import { sleep } from '../../timeout.ts'
import type { Flow } from '../broker.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { AttachedConsumer } from '../pausable-consumer.ts'
import { type AmqpChannelDeps, createRecoveringChannel, type RecoveringChannel } from './channel.ts'

/** A message, and the channel that delivered it: only that channel can settle it. */
export interface AmqpDelivery {
  channel: Channel
  message: ConsumeMessage
}

export interface Subscription extends AttachedConsumer {
  /** Resolves once attached for the first time. */
  opened: Promise<void>
}

export interface Acknowledger {
  /** False when the channel of the delivery is lost: RabbitMQ has then requeued the message. */
  canSettle(delivery: AmqpDelivery): boolean
  ack(delivery: AmqpDelivery): void
  requeue(delivery: AmqpDelivery): void
  /** Aborted when no delivery can be settled any more. */
  closed: AbortSignal
}

export interface SubscriptionOptions<Item> extends AmqpChannelDeps {
  queue: string
  flow: Flow
  declareQueue: (channel: Channel) => Promise<void>
  /** Resolves once this process can publish. A handler that got a message before could neither report its result nor have it retried. */
  whenPublishing: () => Promise<void>
  /** Creates the dispatcher, which settles deliveries through the acknowledger. */
  dispatch: (acknowledger: Acknowledger) => Dispatcher<Item>
  /** The items in a delivery. */
  unpack: (delivery: AmqpDelivery, acknowledger: Acknowledger) => Item[]
}

const CANCEL_TIMEOUT_MS = 1_000

export function createSubscription<Item>(options: SubscriptionOptions<Item>): Subscription {
  const { queue, flow, declareQueue, whenPublishing, unpack, clock, log } = options
  const closed = new AbortController()
  let stopping: Promise<void> | undefined
  let consumerTag = ''

  const channel: RecoveringChannel<Channel> = createRecoveringChannel<Channel>(options, {
    name: queue,
    open: model => model.createChannel(),
    openAfter: whenPublishing,
    async prepare(opened) {
      await declareQueue(opened)
      await opened.prefetch(flow.prefetch)
      const consumer = await opened.consume(queue, message => {
        if (message) deliver({ channel: opened, message })
        else cancelled(opened)
      })
      consumerTag = consumer.consumerTag
    },
    lost: () => dispatcher.discard(),
  })

  const ifOpen = (settle: (delivery: AmqpDelivery) => void) => (delivery: AmqpDelivery) => {
    if (!channel.isOpen(delivery.channel)) return
    try {
      settle(delivery)
    } catch (error) {
      // The channel is closing and has not emitted `close` yet. RabbitMQ delivers the message again.
      log.warn({ queue, err: String(error) }, 'broker.not_settled')
    }
  }
  const acknowledger: Acknowledger = {
    canSettle: delivery => channel.isOpen(delivery.channel),
    ack: ifOpen(({ channel, message }) => channel.ack(message)),
    requeue: ifOpen(({ channel, message }) => channel.nack(message, false, true)),
    closed: closed.signal,
  }
  const dispatcher = options.dispatch(acknowledger)

  function deliver(delivery: AmqpDelivery): void {
    for (const item of unpack(delivery, acknowledger)) dispatcher.accept(item)
  }

  function cancelled(opened: Channel): void {
    log.warn({ queue }, 'broker.consumer_cancelled')
    channel.reopen(opened)
  }

  /** Awaited before messages are requeued, or RabbitMQ could deliver them here again; but no longer than the grace. */
  async function cancel(graceMs = CANCEL_TIMEOUT_MS): Promise<void> {
    const cancelling = channel.ready()?.cancel(consumerTag)
    if (!cancelling) return
    const over = new AbortController()
    cancelling.then(
      () => over.abort(),
      () => over.abort(),
    )
    await sleep(clock, Math.min(graceMs, CANCEL_TIMEOUT_MS), over.signal)
  }

  async function stop(graceMs?: number): Promise<void> {
    channel.stopReopening()
    await cancel(graceMs)
    await dispatcher.stop(graceMs)
    closed.abort()
    await channel.close()
  }

  return {
    opened: channel.whenReady(),
    attached: () => stopping === undefined && channel.ready() !== undefined,
    stop(graceMs) {
      // An earlier `stop` without a limit need not wait any longer than this one.
      if (stopping && graceMs !== undefined) void dispatcher.stop(graceMs)
      stopping ??= stop(graceMs)
      return stopping
    },
  }
}
