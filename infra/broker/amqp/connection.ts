// One connection to RabbitMQ, opened in the background and opened again for ever: a process that starts before the broker is treated
// as one that lost it. Of several nodes, the next is tried at once when one fails or is lost; there is a wait only after all were tried.
// Channels are restored in channel.ts, because amqplib's own `recovery` does not restore them.
import { Duplex } from 'node:stream'
import type { ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import type { EngineWait } from '../../engine-wait.ts'
import type { Logger } from '../../log/log.ts'
import { sleep, withTimeout } from '../../timeout.ts'
import { type Backoff, backoffDelay } from './backoff.ts'

/** The part of a logger that the adapter uses. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} }

export interface Connection {
  /** Resolves with the next open connection; with undefined once `close` was called. */
  whenConnected(): Promise<ChannelModel | undefined>
  current(): ChannelModel | undefined
  /** True while RabbitMQ takes no publishes, because it lacks memory or disk. */
  blocked(): boolean
  /** Cuts a connection that turned out to be useless, so that a new one is opened. */
  drop(model: ChannelModel, why: unknown): void
  close(): Promise<void>
}

export interface BrokerNode {
  /** Host and port, for the log: never the whole URL, which holds a password. */
  name: string
  open(): Promise<ChannelModel>
}

export interface ConnectionOptions {
  /** Shown in RabbitMQ's list of connections and in the log. */
  name: string
  /** At least one. They are tried in turn, from a random one on, so that processes spread over them. */
  nodes: readonly BrokerNode[]
  /** How long a node may take to accept a connection. */
  connectMs: number
  backoff: Backoff
  clock: Clock
  log: Log
  onBlocked?: () => void
  wait?: EngineWait | undefined
}

const CLOSE_TIMEOUT_MS = 2_000
/** A connection that lasted this long, or as long as the longest wait, was a good one: after its loss the waits begin with the first. */
const LASTING_MS = 1_000
/** A node that is away fails several times a second, so its failures are logged less often. */
const LOG_FAILURES_EVERY_MS = 10_000

export function createConnection(options: ConnectionOptions): Connection {
  const { name, nodes, connectMs, backoff, clock, log, onBlocked, wait } = options
  const closing = new AbortController()
  const waiting = new Set<(model: ChannelModel | undefined) => void>()
  let current: ChannelModel | undefined
  let blocked = false
  /** When a failure to connect to a node was last logged, and how many came since. */
  const failures = new Map<string, { loggedAt: number; more: number }>()

  function logFailure(node: string, error: unknown): void {
    const last = failures.get(node)
    if (last && clock.now() - last.loggedAt < LOG_FAILURES_EVERY_MS) {
      last.more += 1
      return
    }
    const more = last && last.more > 0 ? { more: last.more } : {}
    failures.set(node, { loggedAt: clock.now(), more: 0 })
    log.warn({ connection: name, node, ...more, err: String(error) }, 'broker.connect_failed')
  }

  function resolveWaiting(model: ChannelModel | undefined): void {
    const resolvers = [...waiting]
    waiting.clear()
    for (const resolveWaiter of resolvers) resolveWaiter(model)
  }

  /** Resolves when the connection is lost. */
  const watch = (model: ChannelModel, node: string): Promise<void> =>
    new Promise(resolve => {
      model.on('error', error => {
        log.warn({ connection: name, node, err: error.message }, 'broker.connection_failed')
        destroySocket(model)
      })
      model.on('blocked', reason => {
        blocked = true
        log.warn({ connection: name, node, reason }, 'broker.blocked')
        onBlocked?.()
      })
      model.on('unblocked', () => {
        blocked = false
        log.info({ connection: name }, 'broker.unblocked')
      })
      model.on('close', () => {
        if (current !== model) return
        current = undefined
        blocked = false
        if (!closing.signal.aborted) log.warn({ connection: name, node }, 'broker.connection_lost')
        resolve()
      })
      current = model
      failures.clear()
      wait?.answered()
      log.info({ connection: name, node }, 'broker.connected')
      resolveWaiting(model)
    })

  /** Resolves when the connection to this node is lost or was not opened, with how long it lasted. */
  async function connectTo(node: BrokerNode): Promise<number> {
    try {
      const model = await openInTime(node, connectMs, clock)
      const since = performance.now()
      await (closing.signal.aborted ? closeConnection(model, clock) : watch(model, node.name))
      return performance.now() - since
    } catch (error) {
      wait?.failed(error)
      logFailure(node.name, error)
      return 0
    }
  }

  async function keepConnected(): Promise<void> {
    const first = Math.floor(Math.random() * nodes.length)
    let [tried, rounds] = [0, 0]
    for (let turn = first; !closing.signal.aborted; turn += 1) {
      const lastedMs = await connectTo(nodes[turn % nodes.length] as BrokerNode)
      if (lastedMs > Math.min(LASTING_MS, backoff.maxMs)) [tried, rounds] = [0, 0]
      tried += 1
      if (tried < nodes.length) continue
      await sleep(clock, backoffDelay(backoff, rounds), closing.signal)
      tried = 0
      rounds += 1
    }
  }

  void keepConnected()

  return {
    whenConnected: () =>
      new Promise(resolve => {
        if (current || closing.signal.aborted) resolve(current)
        else waiting.add(resolve)
      }),
    current: () => current,
    blocked: () => blocked,
    drop(model, why) {
      if (current !== model) return
      log.warn({ connection: name, err: String(why) }, 'broker.connection_dropped')
      destroySocket(model)
      // amqplib emits no `close` for a connection that was lost before a listener was added.
      model.emit('close')
    },
    async close() {
      closing.abort()
      resolveWaiting(undefined)
      if (current) await closeConnection(current, clock)
    },
  }
}

/** A node may accept the socket and never answer, or answer so slowly that amqplib's own timeout never ends. */
async function openInTime(node: BrokerNode, connectMs: number, clock: Clock): Promise<ChannelModel> {
  const opening = node.open()
  const model = await withTimeout(clock, connectMs, opening)
  if (model) return model
  const closeLate = (late: ChannelModel): void => {
    late.on('error', () => {})
    destroySocket(late)
  }
  opening.then(closeLate, () => {})
  throw new Error(`no connection within ${connectMs} ms`)
}

/** Waits for RabbitMQ's answer only for a short time: amqplib would wait for ever when the connection is lost meanwhile. */
async function closeConnection(model: ChannelModel, clock: Clock): Promise<void> {
  await new Promise<void>(resolve => {
    const done = () => {
      cancel()
      resolve()
    }
    const cancel = clock.after(CLOSE_TIMEOUT_MS, done)
    model.on('error', done)
    model.on('close', done)
    model.close().catch(done)
  })
  destroySocket(model)
}

/** amqplib only ends the socket of a failed connection. Where the other side is gone, the socket would stay open for minutes. */
function destroySocket(model: ChannelModel): void {
  const connection: object = model.connection
  if ('stream' in connection && connection.stream instanceof Duplex)
    connection.stream.destroy(new Error('Connection severed'))
}
