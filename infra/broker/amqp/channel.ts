// A channel that is opened and prepared again whenever it, or its connection, is lost. On a 404 or a 406 RabbitMQ closes only the
// channel and keeps the connection: without this file, a process that looks healthy would publish or consume nothing.
import type { Channel, ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { sleep } from '../../timeout.ts'
import { Unavailable } from '../../unavailable.ts'
import { type Backoff, backoffDelay } from './backoff.ts'
import type { Connection, Log } from './connection.ts'

export interface RecoveringChannel<C extends Channel> {
  /** The channel while it is open and prepared. */
  ready(): C | undefined
  /** Resolves once the channel is ready, at once while it is; rejects when it is closed before. */
  whenReady(): Promise<void>
  /** True while this very channel is open. A message can be settled only on the channel that delivered it. */
  isOpen(channel: C): boolean
  /** Closes this channel, with its unsettled messages, and opens a new one. */
  reopen(channel: C): void
  /** Opens no new channel after this one. */
  stopReopening(): void
  close(): Promise<void>
}

export interface AmqpChannelDeps {
  connection: Connection
  backoff: Backoff
  clock: Clock
  log: Log
}

export interface RecoveringChannelOptions<C extends Channel> {
  /** For the log. */
  name: string
  open: (model: ChannelModel) => Promise<C>
  /** Awaited before each channel is opened. Where it rejects, no more channels are opened. */
  openAfter?: () => Promise<void>
  /** What a new channel needs before its use: declares queues, starts to consume. */
  prepare: (channel: C) => Promise<void>
  /** Called at once when an open channel is lost. */
  lost?: (channel: C) => void
}

export function createRecoveringChannel<C extends Channel>(
  { connection, backoff, clock, log }: AmqpChannelDeps,
  { name, open, openAfter = async () => {}, prepare, lost }: RecoveringChannelOptions<C>,
): RecoveringChannel<C> {
  const closing = new AbortController()
  let current: C | undefined
  let prepared = false
  const waiting = new Set<{ resolve(): void; reject(error: Error): void }>()
  closing.signal.addEventListener('abort', () => {
    for (const { reject } of waiting) reject(closed())
    waiting.clear()
  })

  const closed = (): Unavailable => new Unavailable(`${name} was closed`)

  function whenReady(): Promise<void> {
    const ready = new Promise<void>((resolve, reject) => {
      if (prepared) resolve()
      else if (closing.signal.aborted) reject(closed())
      else waiting.add({ resolve, reject })
    })
    ready.catch(() => {})
    return ready
  }

  function markLost(channel: C): void {
    if (current !== channel) return
    current = undefined
    prepared = false
    lost?.(channel)
  }

  /** Resolves when the channel is lost; rejects when it could not be opened or prepared. */
  async function openOnce(model: ChannelModel): Promise<void> {
    const channel = await open(model).catch(error => {
      connection.drop(model, error)
      throw error
    })
    channel.on('error', error => log.warn({ channel: name, err: error.message }, 'broker.channel_failed'))
    const gone = new Promise<void>(resolve => channel.once('close', resolve))
    channel.once('close', () => markLost(channel))
    // The connection may have been lost while the channel was opened: then its `close` event came before this listener.
    if (connection.current() !== model || closing.signal.aborted) return closeChannel(channel, clock)
    current = channel
    try {
      await prepare(channel)
    } catch (error) {
      markLost(channel)
      await closeChannel(channel, clock)
      throw error
    }
    if (current !== channel) return
    prepared = true
    for (const { resolve } of waiting) resolve()
    waiting.clear()
    await gone
  }

  async function keepOpen(): Promise<void> {
    let failures = 0
    for (;;) {
      const mayOpen = await openAfter().then(
        () => true,
        () => false,
      )
      const model = await connection.whenConnected()
      if (!mayOpen || !model || closing.signal.aborted) return
      const since = performance.now()
      await openOnce(model).catch(error => log.warn({ channel: name, err: String(error) }, 'broker.channel_not_ready'))
      failures = performance.now() - since > backoff.maxMs ? 0 : failures + 1
      if (connection.current() === model) await sleep(clock, backoffDelay(backoff, failures), closing.signal)
    }
  }

  void keepOpen()

  return {
    ready: () => (prepared ? current : undefined),
    whenReady,
    isOpen: channel => current === channel,
    reopen(channel) {
      markLost(channel)
      void closeChannel(channel, clock)
    },
    stopReopening: () => closing.abort(),
    async close() {
      closing.abort()
      const channel = current
      if (!channel) return
      markLost(channel)
      await closeChannel(channel, clock)
    },
  }
}

const CLOSE_TIMEOUT_MS = 2_000

/** amqplib's own `close` never settles when the connection is lost meanwhile, and waits for the answer of a broker that stalls. */
const closeChannel = (channel: Channel, clock: Clock): Promise<void> =>
  new Promise(resolve => {
    const over = () => {
      cancel()
      resolve()
    }
    const cancel = clock.after(CLOSE_TIMEOUT_MS, over)
    channel.once('close', over)
    channel.close().then(over, over)
  })

/** Opens a channel for one task, so that an error of the task closes no other channel. */
export async function withChannel<T>(
  connection: Connection,
  clock: Clock,
  task: (channel: Channel) => Promise<T>,
): Promise<T> {
  const model = connection.current()
  if (!model) throw new Unavailable('RabbitMQ is not connected')
  try {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    return await task(channel).finally(() => closeChannel(channel, clock))
  } catch (error) {
    throw error instanceof Unavailable ? error : new Unavailable(`RabbitMQ did not answer: ${error}`)
  }
}
