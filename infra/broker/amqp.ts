// The broker port on RabbitMQ. In: the URLs of its nodes and the table of queues. Out: the port, at once, in state 'down': it connects,
// declares the queues and restores what is lost in the background, for ever. There are two connections: one publishes and one consumes, so
// that acks still flow while RabbitMQ blocks publishers for lack of memory or disk.
import { hostname } from 'node:os'
import process from 'node:process'
import { connect as amqpConnect, type Channel } from 'amqplib'
import { type Clock, systemClock } from '../clock.ts'
import type { EngineWait } from '../engine-wait.ts'
import type { EngineWatch } from '../engine-watch.ts'
import { Unavailable } from '../unavailable.ts'
import type { Backoff } from './amqp/backoff.ts'
import { createCallServer } from './amqp/call-server.ts'
import { createCaller } from './amqp/caller.ts'
import { type AmqpChannelDeps, withChannel } from './amqp/channel.ts'
import { type Connection, createConnection, type Log, silentLog } from './amqp/connection.ts'
import { countDeadLetters, createDeadLetters } from './amqp/dead-letters.ts'
import { createDeadlines } from './amqp/deadlines.ts'
import { contentOf, messageProperties } from './amqp/envelope.ts'
import { createPublisher } from './amqp/publisher.ts'
import { createQueues, DEFAULT_DELIVERY_LIMIT, declareAll, falseFor, NOT_FOUND, queueNames } from './amqp/queues.ts'
import { createRoundTrip, type RoundTrip } from './amqp/round-trip.ts'
import type { Subscription } from './amqp/subscription.ts'
import { createWorkConsumer } from './amqp/work-consumer.ts'
import {
  aroundDeadLetters,
  type Broker,
  CallTimeout,
  type Consumer,
  type DeadLetters,
  type Depth,
  Unroutable,
} from './broker.ts'
import { createDeaths } from './deaths.ts'
import { type AttachedConsumer, createPausableConsumer } from './pausable-consumer.ts'
import { DEFAULT_PREFIX, isWorkQueue, type Queue, type Topology, type WorkQueue } from './topology.ts'

export interface AmqpOptions {
  /** One URL for each node: amqp:// or amqps://, with `?heartbeat=` in seconds where 10 is not right. */
  urls: readonly string[]
  topology: Topology
  log?: Log
  /** The start of every queue's name. Holds a version, which must change when the arguments of a queue change. */
  prefix?: string
  /** The most calls in one message; with 1, every call travels alone. */
  maxCallsPerFrame?: number
  /** How often consumers may die with a message, or return it, before it becomes a dead letter. An argument of the queues: see
   *  `prefix`. */
  deliveryLimit?: number
  /** How long a confirm may take. */
  confirmMs?: number
  /** How long a node may take to accept a connection. */
  connectMs?: number
  backoff?: Backoff
  connect?: typeof amqpConnect
  clock?: Clock
  /** Is told how the first connection goes. */
  wait?: EngineWait
  /** Is told of every call of RabbitMQ, and of those that other processes answer. */
  watch?: Pick<EngineWatch, 'observe' | 'stop'>
}

const BACKOFF: Backoff = { firstMs: 100, maxMs: 2_000 }
const HEARTBEAT_SECONDS = '10'
const CONNECT_MS = 5_000

export function createAmqpBroker(options: AmqpOptions): Broker {
  const {
    topology,
    prefix = DEFAULT_PREFIX,
    maxCallsPerFrame = 256,
    deliveryLimit = DEFAULT_DELIVERY_LIMIT,
    confirmMs = 15_000,
  } = options
  const { log = silentLog, clock = systemClock, backoff = BACKOFF, watch } = options
  const observe = <Result>(call: Promise<Result>): Promise<Result> => watch?.observe(call, isAnswer) ?? call
  const names = queueNames(prefix)
  const table = createQueues(names, topology, deliveryLimit)
  const timers = createDeadlines(clock)
  const queueList: string[] = [...topology.calls, ...Object.keys(topology.work)]
  const consumers = new Set<Subscription>()
  const deaths = createDeaths({ clock, log })
  const dead = new Map<WorkQueue, DeadLetters>()
  /** Made when it is first asked for: only a process that answers /readyz needs it. */
  let roundTrip: RoundTrip | undefined
  let declaring: Promise<void> | undefined
  let closing: Promise<void> | undefined

  const publishing = connection('publish', () => {
    workPublisher.rejectPending('RabbitMQ is blocked')
    calls.rejectPending('RabbitMQ is blocked')
  })
  const consuming = connection('consume')
  const publishDeps: AmqpChannelDeps = { connection: publishing, backoff, clock, log }
  const consumeDeps = {
    connection: consuming,
    backoff,
    clock,
    log,
    names,
    queues: table,
    deaths,
    whenPublishing: whenUp,
  }
  const workPublisher = createPublisher({
    ...publishDeps,
    deadlines: timers,
    confirmMs,
    declareQueues,
    onMissing: redeclare,
  })
  const calls = createCaller({ ...publishDeps, deadlines: timers, maxCallsPerFrame, onMissing: redeclare })

  async function whenUp(): Promise<void> {
    await Promise.all([workPublisher.whenReady(), calls.whenReady()])
  }

  function connection(purpose: string, onBlocked = () => {}): Connection {
    const name = `${prefix} ${purpose} ${hostname()}:${process.pid}`
    const { connect = amqpConnect, connectMs = CONNECT_MS } = options
    const socket = { noDelay: true, keepAlive: true, timeout: connectMs, clientProperties: { connection_name: name } }
    const nodes = options.urls.map(url => ({
      name: new URL(url).host,
      open: async () => connect(withHeartbeat(url), socket),
    }))
    return createConnection({ name, nodes, connectMs, backoff, clock, log, onBlocked, wait: options.wait })
  }

  function declareQueues(): Promise<void> {
    declaring ??= declareAll(task => withChannel(publishing, clock, task), table).finally(() => {
      declaring = undefined
    })
    return declaring
  }

  /** A queue was deleted on the broker. The message at hand is refused; the next one finds the queue declared again. */
  function redeclare(queue: string): void {
    if (declaring) return
    log.warn({ queue }, 'broker.queue_missing')
    declareQueues().catch(error => log.warn({ queue, err: String(error) }, 'broker.queue_not_restored'))
  }

  function requireQueue(queue: Queue): void {
    if (!queueList.includes(queue)) throw new Unroutable(`there is no queue ${queue}`)
  }

  const consume = (queue: Queue, subscribe: () => Subscription): Promise<Consumer> =>
    createPausableConsumer(queue, () => attach(queue, subscribe))

  async function attach(queue: Queue, subscribe: () => Subscription): Promise<AttachedConsumer> {
    if (closing) throw new Unavailable('the broker was closed')
    requireQueue(queue)
    const subscription = subscribe()
    consumers.add(subscription)
    await subscription.opened
    return {
      attached: subscription.attached,
      stop: graceMs => subscription.stop(graceMs).finally(() => consumers.delete(subscription)),
    }
  }

  /** RabbitMQ tells the age of no message, and reading one would count as a delivery of it, so `oldestMs` is not known. */
  async function depth(channel: Channel, queue: Queue): Promise<Depth> {
    const brokerName = names.queue(queue)
    const found: Depth = { ready: 0, consumers: 0, dead: 0, oldestMs: null, brokerName }
    try {
      const { messageCount, consumerCount } = await channel.checkQueue(brokerName)
      found.ready = messageCount
      found.consumers = consumerCount
      if (isWorkQueue(queue)) found.dead = await countDeadLetters(channel, names.dead(queue), clock)
    } catch (error) {
      if (!falseFor(NOT_FOUND)(error)) redeclare(queue)
    }
    return found
  }

  function observed(queue: WorkQueue): DeadLetters {
    const deps = { connection: consuming, clock, names, publisher: workPublisher }
    return aroundDeadLetters(createDeadLetters(deps, queue), run => observe(run()))
  }

  async function close(graceMs?: number): Promise<void> {
    options.wait?.stop()
    watch?.stop()
    await Promise.all([...consumers].map(consumer => consumer.stop(graceMs)))
    // Channels close before connections, so that the last messages given to them are sent.
    await Promise.all([workPublisher.close(), calls.close(), roundTrip?.close()])
    await Promise.all([publishing.close(), consuming.close()])
    deaths.close()
  }

  return {
    publish: async (queue, { id, body, trace, publishedAgain }) =>
      observe(
        workPublisher.send(
          names.queue(queue),
          contentOf(body),
          messageProperties({
            id,
            attempt: 1,
            failures: 0,
            publishedAt: clock.now(),
            redelivered: false,
            publishedAgain,
            trace,
          }),
        ),
      ),
    request: (queue, message, budgetMs) => observe(calls.request(names.queue(queue), message, budgetMs)),
    consume: (queue, handle, flow) =>
      consume(queue, () =>
        createWorkConsumer(
          { ...consumeDeps, publisher: workPublisher, delays: topology.work[queue], deliveryLimit },
          queue,
          handle,
          flow,
        ),
      ),
    serve: (queue, answer, flow) =>
      consume(queue, () => createCallServer({ ...consumeDeps, caller: calls }, queue, answer, flow)),
    async depth(queue) {
      requireQueue(queue)
      return observe(withChannel(consuming, clock, channel => depth(channel, queue)))
    },
    dead(queue) {
      requireQueue(queue)
      const letters = dead.get(queue) ?? observed(queue)
      dead.set(queue, letters)
      return letters
    },
    onDeath: deaths.listen,
    async roundTrip(budgetMs) {
      if (closing) throw new Unavailable('the broker was closed')
      roundTrip ??= createRoundTrip({ ...consumeDeps, publisher: workPublisher, deadlines: timers })
      await observe(roundTrip.run(budgetMs))
    },
    whenUp,
    state() {
      if (publishing.blocked()) return 'blocked'
      return workPublisher.ready() && calls.ready() ? 'up' : 'down'
    },
    close(graceMs) {
      closing ??= close(graceMs)
      return closing
    },
  }
}

/** Of an error: RabbitMQ, or a process that it reached, has answered. */
const isAnswer = (error: unknown): boolean => !(error instanceof Unavailable || error instanceof CallTimeout)

function withHeartbeat(url: string): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has('heartbeat')) parsed.searchParams.set('heartbeat', HEARTBEAT_SECONDS)
  return parsed.href
}
