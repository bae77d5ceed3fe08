// The broker port on RabbitMQ. Returned at once and 'down'; it connects, declares the topology and heals in the background, for
// ever. Two connections: one publishes, one consumes, so that an alarm that blocks the publishers leaves the acks flowing.
import { hostname } from 'node:os'
import process from 'node:process'
import { connect as amqpConnect, type Channel } from 'amqplib'
import { type Clock, systemClock } from '../clock.ts'
import { Unavailable } from '../unavailable.ts'
import type { Backoff } from './amqp/backoff.ts'
import { caller } from './amqp/caller.ts'
import { aside, type Surroundings } from './amqp/channel.ts'
import { deadLetters } from './amqp/dead.ts'
import { deadlines } from './amqp/deadlines.ts'
import { contentOf, properties } from './amqp/envelope.ts'
import { amqpLink, type Link } from './amqp/link.ts'
import { type Log, silent } from './amqp/log.ts'
import { publisher } from './amqp/publisher.ts'
import { declare, queueNames, queues } from './amqp/queues.ts'
import { callServer } from './amqp/server.ts'
import type { Subscription } from './amqp/subscription.ts'
import { workConsumer } from './amqp/work.ts'
import { type Broker, type Consumer, type DeadLetters, type Depth, Unroutable } from './broker.ts'
import type { Queue, Topology, WorkQueue } from './topology.ts'

export interface AmqpOptions {
  /** amqp:// or amqps://, with `?heartbeat=` in seconds where 10 is not right. */
  url: string
  topology: Topology
  log?: Log
  /** Begins every queue's name. Its version must change when a queue's arguments do. */
  prefix?: string
  /** The most calls in one message; 1 sends each alone. */
  framing?: number
  /** A message whose consumers died on it, or stopped with it in hand, this often is dead. An argument of the queues: see `prefix`. */
  deliveryLimit?: number
  /** How long a confirm may take. */
  confirmMs?: number
  backoff?: Backoff
  connect?: typeof amqpConnect
  clock?: Clock
}

const BACKOFF: Backoff = { firstMs: 100, longestMs: 5_000 }
const HEARTBEAT_SECONDS = '10'
const CONNECT_MS = 10_000

export function amqpBroker(options: AmqpOptions): Broker {
  const { topology, prefix = 'countersign.v1', framing = 256, deliveryLimit = 20, confirmMs = 15_000 } = options
  const { log = silent, clock = systemClock, backoff = BACKOFF } = options
  const names = queueNames(prefix)
  const table = queues(names, topology, deliveryLimit)
  const timers = deadlines(clock)
  const known: string[] = [...topology.calls, ...Object.keys(topology.work)]
  const consumers = new Set<Subscription>()
  const dead = new Map<WorkQueue, DeadLetters>()
  let declaring: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const publishing = link('publish', () => {
    durable.fail('RabbitMQ is blocked')
    calls.fail('RabbitMQ is blocked')
  })
  const consuming = link('consume')
  const toPublish: Surroundings = { link: publishing, backoff, clock, log }
  const toConsume = { link: consuming, backoff, clock, log, names, queues: table }
  const durable = publisher({ ...toPublish, deadlines: timers, confirmMs, declareQueues, onMissing: restore })
  const calls = caller({ ...toPublish, deadlines: timers, framing, onMissing: restore })

  function link(purpose: string, onBlocked = () => {}): Link {
    const name = `${prefix} ${purpose} ${hostname()}:${process.pid}`
    const connect = options.connect ?? amqpConnect
    const socket = { noDelay: true, keepAlive: true, timeout: CONNECT_MS, clientProperties: { connection_name: name } }
    const open = () => connect(withHeartbeat(options.url), socket)
    return amqpLink({ name, open, backoff, clock, log, onBlocked })
  }

  function declareQueues(): Promise<void> {
    declaring ??= aside(publishing, clock, channel => declare(channel, table.all(channel))).finally(() => {
      declaring = undefined
    })
    return declaring
  }

  /** Somebody deleted a queue: the message is refused, the next one finds it again. */
  function restore(queue: string): void {
    if (declaring) return
    log.warn({ queue }, 'broker.queue_missing')
    declareQueues().catch(error => log.warn({ queue, err: String(error) }, 'broker.queue_not_restored'))
  }

  function mustBeKnown(queue: Queue): void {
    if (!known.includes(queue)) throw new Unroutable(`there is no queue ${queue}`)
  }

  async function attach(queue: Queue, subscribe: () => Subscription): Promise<Consumer> {
    if (closing) throw new Unavailable('the broker was closed')
    mustBeKnown(queue)
    const subscription = subscribe()
    consumers.add(subscription)
    await subscription.opened
    return {
      attached: subscription.attached,
      stop: graceMs => subscription.stop(graceMs).finally(() => consumers.delete(subscription)),
    }
  }

  async function depth(channel: Channel, queue: string): Promise<Depth> {
    try {
      const { messageCount, consumerCount } = await channel.checkQueue(queue)
      return { ready: messageCount, consumers: consumerCount }
    } catch (error) {
      if (!isNotFound(error)) throw error
      restore(queue)
      return { ready: 0, consumers: 0 }
    }
  }

  async function close(graceMs?: number): Promise<void> {
    await Promise.all([...consumers].map(consumer => consumer.stop(graceMs)))
    // Channels before connections: what they were given last is then sent for certain.
    await Promise.all([durable.close(), calls.close()])
    await Promise.all([publishing.close(), consuming.close()])
  }

  return {
    publish: async (queue, { id, body }) =>
      durable.send(names.queue(queue), contentOf(body), properties({ id, attempt: 1, publishedAt: clock.now() })),
    request: (queue, message, budgetMs) => calls.request(names.queue(queue), message, budgetMs),
    consume: (queue, handle, flow) =>
      attach(queue, () =>
        workConsumer({ ...toConsume, publisher: durable, delays: topology.work[queue] }, queue, handle, flow),
      ),
    serve: (queue, answer, flow) =>
      attach(queue, () => callServer({ ...toConsume, caller: calls }, queue, answer, flow)),
    async depth(queue) {
      mustBeKnown(queue)
      return aside(consuming, clock, channel => depth(channel, names.queue(queue)))
    },
    dead(queue) {
      mustBeKnown(queue)
      const letters = dead.get(queue) ?? deadLetters({ link: consuming, clock, names, publisher: durable }, queue)
      dead.set(queue, letters)
      return letters
    },
    state() {
      if (publishing.blocked()) return 'blocked'
      return durable.ready() && calls.ready() ? 'up' : 'down'
    },
    close(graceMs) {
      closing ??= close(graceMs)
      return closing
    },
  }
}

function withHeartbeat(url: string): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has('heartbeat')) parsed.searchParams.set('heartbeat', HEARTBEAT_SECONDS)
  return parsed.href
}

const isNotFound = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 404
