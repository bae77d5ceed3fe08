// One connection to RabbitMQ, made in the background and made again for ever: starting before the broker is the same as
// losing it later. Channels are not its business (amqplib's own `recovery` ends here as well): see channel.ts.
import { Duplex } from 'node:stream'
import type { ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { type Backoff, nap, pauseAfter } from './backoff.ts'
import type { Log } from './log.ts'

export interface Link {
  /** The connection, once there is one; undefined when the link was closed for good. */
  up(): Promise<ChannelModel | undefined>
  /** The connection, while there is one. */
  live(): ChannelModel | undefined
  /** RabbitMQ takes no publishes on it: an alarm of memory or disk. */
  blocked(): boolean
  /** For whoever finds this connection useless: it is cut and made again. */
  drop(model: ChannelModel, why: unknown): void
  close(): Promise<void>
}

export interface LinkOptions {
  /** What operators see in the broker's list of connections, and in the log. */
  name: string
  open: () => Promise<ChannelModel>
  backoff: Backoff
  clock: Clock
  log: Log
  onBlocked?: () => void
}

const FAREWELL_MS = 2_000

export function amqpLink({ name, open, backoff, clock, log, onBlocked }: LinkOptions): Link {
  const ended = new AbortController()
  const waiting = new Set<(model: ChannelModel | undefined) => void>()
  let live: ChannelModel | undefined
  let blocked = false

  function announce(model: ChannelModel | undefined): void {
    const told = [...waiting]
    waiting.clear()
    for (const tell of told) tell(model)
  }

  /** Resolves when the connection is gone. */
  const hold = (model: ChannelModel): Promise<void> =>
    new Promise(resolve => {
      model.on('error', error => {
        log.warn({ connection: name, err: error.message }, 'broker.connection_failed')
        sever(model)
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
        if (live !== model) return
        live = undefined
        blocked = false
        if (!ended.signal.aborted) log.warn({ connection: name }, 'broker.connection_lost')
        resolve()
      })
      live = model
      log.info({ connection: name }, 'broker.connected')
      announce(model)
    })

  async function keep(): Promise<void> {
    let failures = 0
    while (!ended.signal.aborted) {
      const since = performance.now()
      try {
        const model = await open()
        await (ended.signal.aborted ? hangUp(model, clock) : hold(model))
      } catch (error) {
        log.warn({ connection: name, err: String(error) }, 'broker.connect_failed')
      }
      failures = performance.now() - since > backoff.longestMs ? 0 : failures + 1
      await nap(clock, pauseAfter(backoff, failures), ended.signal)
    }
  }

  void keep()

  return {
    up: () =>
      new Promise(resolve => {
        if (live || ended.signal.aborted) resolve(live)
        else waiting.add(resolve)
      }),
    live: () => live,
    blocked: () => blocked,
    drop(model, why) {
      if (live !== model) return
      log.warn({ connection: name, err: String(why) }, 'broker.connection_dropped')
      sever(model)
      // A connection that died before anyone listened to it says so no more.
      model.emit('close')
    },
    async close() {
      ended.abort()
      announce(undefined)
      if (live) await hangUp(live, clock)
    },
  }
}

/** Says goodbye, but waits for no answer longer than a moment: amqplib would wait for ever when the line dies just then. */
async function hangUp(model: ChannelModel, clock: Clock): Promise<void> {
  await new Promise<void>(resolve => {
    const done = () => {
      cancel()
      resolve()
    }
    const cancel = clock.after(FAREWELL_MS, done)
    model.on('error', done)
    model.on('close', done)
    model.close().catch(done)
  })
  sever(model)
}

/** amqplib ends a failed connection's socket politely and listens no more; a peer that is gone would hold it for minutes. */
function sever(model: ChannelModel): void {
  const connection: object = model.connection
  if ('stream' in connection && connection.stream instanceof Duplex)
    connection.stream.destroy(new Error('Connection severed'))
}
