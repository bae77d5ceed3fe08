// One connection to RabbitMQ, opened in the background and opened again for ever: a process that starts before the broker is treated
// as one that lost it. Channels are restored in channel.ts, because amqplib's own `recovery` does not restore them.
import { Duplex } from 'node:stream'
import type { ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { type Backoff, backoffDelay, sleep } from './backoff.ts'
import type { Log } from './log.ts'

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

export interface ConnectionOptions {
  /** Shown in RabbitMQ's list of connections and in the log. */
  name: string
  open: () => Promise<ChannelModel>
  backoff: Backoff
  clock: Clock
  log: Log
  onBlocked?: () => void
}

const CLOSE_TIMEOUT_MS = 2_000

export function createConnection({ name, open, backoff, clock, log, onBlocked }: ConnectionOptions): Connection {
  const closing = new AbortController()
  const waiting = new Set<(model: ChannelModel | undefined) => void>()
  let current: ChannelModel | undefined
  let blocked = false

  function resolveWaiting(model: ChannelModel | undefined): void {
    const resolvers = [...waiting]
    waiting.clear()
    for (const resolveWaiter of resolvers) resolveWaiter(model)
  }

  /** Resolves when the connection is lost. */
  const watch = (model: ChannelModel): Promise<void> =>
    new Promise(resolve => {
      model.on('error', error => {
        log.warn({ connection: name, err: error.message }, 'broker.connection_failed')
        destroySocket(model)
      })
      model.on('blocked', reason => {
        blocked = true
        log.warn({ connection: name, reason }, 'broker.blocked')
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
        if (!closing.signal.aborted) log.warn({ connection: name }, 'broker.connection_lost')
        resolve()
      })
      current = model
      log.info({ connection: name }, 'broker.connected')
      resolveWaiting(model)
    })

  async function keepConnected(): Promise<void> {
    let failures = 0
    while (!closing.signal.aborted) {
      const since = performance.now()
      try {
        const model = await open()
        await (closing.signal.aborted ? closeConnection(model, clock) : watch(model))
      } catch (error) {
        log.warn({ connection: name, err: String(error) }, 'broker.connect_failed')
      }
      failures = performance.now() - since > backoff.maxMs ? 0 : failures + 1
      await sleep(clock, backoffDelay(backoff, failures), closing.signal)
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
