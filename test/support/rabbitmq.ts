// RabbitMQ for tests: brokers on queues that no other test uses, their removal, and access to a broker's channels in order to break them.
import { randomUUID } from 'node:crypto'
import { type Channel, type ChannelModel, type ConfirmChannel, connect, type SocketOptions } from 'amqplib'
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import { type AmqpOptions, createAmqpBroker } from '../../infra/broker/amqp.ts'
import { type Broker, type Consumer, type DeliveredMessage, done, type Outcome } from '../../infra/broker/broker.ts'
import { createTopology, type Topology, type WorkQueue } from '../../infra/broker/topology.ts'
import { AMQP_URL } from './engines.ts'
import { eventually } from './eventually.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'

export const freshPrefix = (): string => `test.${randomUUID()}`

/** Waits for both connections of a broker: `state` reports the publishing one, and `depth` uses the consuming one. */
export const waitUntilUp = (broker: Broker): Promise<unknown> =>
  eventually(async () => {
    expect(broker.state()).to.equal('up')
    await broker.depth('otp.calls')
  })

async function withConnection<T>(task: (connection: ChannelModel) => Promise<T>): Promise<T> {
  const connection = await connect(AMQP_URL ?? '', { noDelay: true })
  try {
    return await task(connection)
  } finally {
    await connection.close()
  }
}

/** Runs a task on a new channel that reaches RabbitMQ directly, not through a proxy. */
export const withRabbitChannel = <T>(task: (channel: ConfirmChannel) => Promise<T>): Promise<T> =>
  withConnection(async connection => task(await connection.createConfirmChannel()))

interface Queues {
  topology: Topology
  prefix: string
}

/** The names of the work queues on RabbitMQ, with those of their dead letters and waits. */
const workQueues = ({ topology, prefix }: Queues): string[] => {
  const names = queueNames(prefix)
  return (Object.keys(topology.work) as WorkQueue[]).flatMap(queue => [
    names.queue(queue),
    names.dead(queue),
    ...topology.work[queue].map(delayMs => names.wait(queue, delayMs)),
  ])
}

/** How many messages wait in each work queue that has some, those of dead letters and waits included. Messages that a consumer holds are
 *  not among them. */
export const waitingMessages = (queues: Queues): Promise<Record<string, number>> =>
  withRabbitChannel(async channel => {
    const counts: Record<string, number> = {}
    for (const queue of workQueues(queues)) {
      const { messageCount } = await channel.checkQueue(queue)
      if (messageCount > 0) counts[queue] = messageCount
    }
    return counts
  })

export async function removeQueues(queues: Queues): Promise<void> {
  const { topology, prefix } = queues
  const work = workQueues(queues)
  await withConnection(async connection => {
    // A quorum queue deleted while it is still starting crashes its dead-letter worker, and two such crashes leave every quorum
    // queue of the node useless (rabbitmq-server#16652). A queue that answers a purge has started. A purge fails where a test has
    // already deleted the queue.
    for (const queue of work) {
      const channel = await connection.createChannel()
      channel.on('error', () => {})
      await channel.purgeQueue(queue).catch(() => {})
    }
    const channel = await connection.createChannel()
    for (const queue of [...topology.calls.map(queueNames(prefix).queue), ...work]) await channel.deleteQueue(queue)
  })
}

export const TEST_TOPOLOGY = createTopology({ channel: [50], webhook: [50, 400] })

export interface RabbitFixture {
  prefix: string
  names: ReturnType<typeof queueNames>
  /** Opens a broker on the fixture's queues, with short reconnection delays; `close` closes it. */
  open(options?: Partial<AmqpOptions>): Broker
  close(): Promise<void>
}

export function createRabbitFixture(): RabbitFixture {
  const prefix = freshPrefix()
  const brokers: Broker[] = []
  return {
    prefix,
    names: queueNames(prefix),
    open(options = {}) {
      const broker = createAmqpBroker({
        urls: [AMQP_URL ?? ''],
        topology: TEST_TOPOLOGY,
        prefix,
        backoff: { firstMs: 20, maxMs: 200 },
        ...options,
      })
      brokers.push(broker)
      return broker
    },
    async close() {
      await Promise.all(brokers.map(broker => broker.close(0)))
      await removeQueues({ topology: TEST_TOPOLOGY, prefix })
    },
  }
}

/** RabbitMQ behind a proxy that can refuse, stall and cut connections. */
export async function openRabbitBehindProxy(): Promise<{ proxy: TcpProxy; url: string }> {
  const url = new URL(AMQP_URL ?? '')
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) })
  url.host = `127.0.0.1:${proxy.port}`
  return { proxy, url: url.href }
}

/** A `connect` that opens publishing connections to this URL, and all others to the URL it is called with. */
export const publishVia = (url: string): typeof connect =>
  ((given: string, options: SocketOptions) => {
    const publishes = String(options.clientProperties?.connection_name).includes(' publish ')
    return connect(publishes ? url : given, options)
  }) as typeof connect

export interface ChannelSpy {
  connect: typeof connect
  /** The newest channel that confirms publishes. */
  publishing(): Channel
  /** The newest channel that consumes this queue. */
  consuming(queue: string): Channel
}

/** A `connect` that records which channels a broker opens. */
export function createChannelSpy(): ChannelSpy {
  let confirming: Channel | undefined
  const consumers = new Map<string, Channel>()
  const requireChannel = (channel: Channel | undefined): Channel => {
    if (!channel) throw new Error('there is no such channel')
    return channel
  }
  const spiedConnect = async (...args: Parameters<typeof connect>) => {
    const model = await connect(...args)
    const createChannel = model.createChannel.bind(model)
    const createConfirmChannel = model.createConfirmChannel.bind(model)
    model.createChannel = async options => {
      const channel = await createChannel(options)
      const consume = channel.consume.bind(channel)
      channel.consume = (queue, ...rest) => {
        consumers.set(queue, channel)
        return consume(queue, ...rest)
      }
      return channel
    }
    model.createConfirmChannel = async options => {
      const channel = await createConfirmChannel(options)
      confirming = channel
      return channel
    }
    return model
  }
  return {
    connect: spiedConnect as typeof connect,
    publishing: () => requireChannel(confirming),
    consuming: queue => requireChannel(consumers.get(queue)),
  }
}

/** Makes RabbitMQ close this channel and nothing else, by asking for a queue that does not exist. */
export const breakChannel = (channel: Channel): Promise<void> =>
  channel.checkQueue(freshPrefix()).then(
    () => {
      throw new Error('the channel did not break')
    },
    () => {},
  )

/** The queues that most fault tests use. */
export const WEBHOOK_QUEUE = 'webhook.deliver'
export const CALLS_QUEUE = 'otp.calls'
/** Longer than any test, so that only the injected fault can end a wait. */
export const LONG_WAIT_MS = 600_000

/** Consumes the webhook queue, answers `done` to every message and records the ids. */
export async function collectIds(broker: Broker): Promise<{ seen: string[]; consumer: Consumer }> {
  const seen: string[] = []
  const handle = async (waiting: DeliveredMessage[]): Promise<Outcome[]> => {
    seen.push(...waiting.map(({ id }) => id))
    return waiting.map(done)
  }
  return { seen, consumer: await broker.consume(WEBHOOK_QUEUE, handle, { prefetch: 10 }) }
}

/** Answers every call with the call's own body. */
export const serveEcho = (broker: Broker): Promise<Consumer> =>
  broker.serve(CALLS_QUEUE, async waiting => waiting.map(({ body }) => body), { prefetch: 10 })

export async function expectRejection(promise: Promise<unknown>, kind: new () => Error): Promise<void> {
  const outcome = await promise.then(
    value => ({ value }),
    (error: unknown) => error,
  )
  expect(outcome).to.be.instanceOf(kind)
}
