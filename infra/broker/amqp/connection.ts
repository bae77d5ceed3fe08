// One connection to RabbitMQ, made in the background and made again for ever: starting before the broker is the same as
// losing it later. Channels are not its business (amqplib's own `recovery` ends here as well): see channel.ts.
import { Duplex } from 'node:stream'
import type { ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { type Backoff, backoffDelay, sleep } from './backoff.ts'
import type { Log } from './log.ts'

export interface Connection {
  /** The connection, once there is one; undefined when the link was closed for good. */
  whenConnected(): Promise<ChannelModel | undefined>
  /** The connection, while there is one. */
  current(): ChannelModel | undefined
  /** RabbitMQ takes no publishes on it: an alarm of memory or disk. */
  blocked(): boolean
  /** For whoever finds this connection useless: it is cut and made again. */
  drop(model: ChannelModel, why: unknown): void
  close(): Promise<void>
}

export interface ConnectionOptions {
  /** What operators see in the broker's list of connections, and in the log. */
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

  /** Resolves when the connection is gone. */
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
      // A connection that died before anyone listened to it says so no more.
      model.emit('close')
    },
    async close() {
      closing.abort()
      resolveWaiting(undefined)
      if (current) await closeConnection(current, clock)
    },
  }
}

/** Says goodbye, but waits for no answer longer than a moment: amqplib would wait for ever when the line dies just then. */
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

/** amqplib ends a failed connection's socket politely and listens no more; a peer that is gone would hold it for minutes. */
function destroySocket(model: ChannelModel): void {
  const connection: object = model.connection
  if ('stream' in connection && connection.stream instanceof Duplex)
    connection.stream.destroy(new Error('Connection severed'))
}
