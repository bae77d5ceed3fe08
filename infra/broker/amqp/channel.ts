// A channel that is opened and prepared again whenever it, or the connection under it, dies. RabbitMQ closes a channel alone
// on a 404 or a 406 and leaves the connection standing: without this, a healthy-looking process would publish or consume nothing.
import type { Channel, ChannelModel } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { Unavailable } from '../../unavailable.ts'
import { type Backoff, nap, pauseAfter } from './backoff.ts'
import type { Link } from './link.ts'
import type { Log } from './log.ts'

export interface HealingChannel<C extends Channel> {
  /** The channel while it is open and prepared. */
  ready(): C | undefined
  /** Resolves when it is ready for the first time; rejects when it is closed before. */
  opened: Promise<void>
  /** True while this very channel is open: what was delivered on a dead one is no longer ours to settle. */
  isOpen(channel: C): boolean
  /** Gives up this channel, what it holds included, for a new one. */
  renew(channel: C): void
  /** No new one after this one. */
  retire(): void
  close(): Promise<void>
}

export interface Surroundings {
  link: Link
  backoff: Backoff
  clock: Clock
  log: Log
}

export interface ChannelUse<C extends Channel> {
  /** For the log. */
  name: string
  open: (model: ChannelModel) => Promise<C>
  /** Declares, consumes: all that a new channel needs before it is of use. */
  prepare: (channel: C) => Promise<void>
  /** Called at once when a channel that was open is gone. */
  lost?: (channel: C) => void
}

export function healingChannel<C extends Channel>(
  { link, backoff, clock, log }: Surroundings,
  { name, open, prepare, lost }: ChannelUse<C>,
): HealingChannel<C> {
  const ended = new AbortController()
  let current: C | undefined
  let prepared = false
  let isReady = () => {}
  const opened = new Promise<void>((resolve, reject) => {
    isReady = resolve
    ended.signal.addEventListener('abort', () => reject(new Unavailable(`${name} was closed`)))
  })
  opened.catch(() => {})

  function forget(channel: C): void {
    if (current !== channel) return
    current = undefined
    prepared = false
    lost?.(channel)
  }

  /** Resolves when the channel is gone; rejects when it could not be made or prepared. */
  async function use(model: ChannelModel): Promise<void> {
    const channel = await open(model).catch(error => {
      link.drop(model, error)
      throw error
    })
    channel.on('error', error => log.warn({ channel: name, err: error.message }, 'broker.channel_failed'))
    const gone = new Promise<void>(resolve => channel.once('close', resolve))
    channel.once('close', () => forget(channel))
    // The connection may have died while the news of the open channel was under way: its `close` came before we listened.
    if (link.live() !== model || ended.signal.aborted) return closeChannel(channel, clock)
    current = channel
    try {
      await prepare(channel)
    } catch (error) {
      forget(channel)
      await closeChannel(channel, clock)
      throw error
    }
    if (current !== channel) return
    prepared = true
    isReady()
    await gone
  }

  async function keep(): Promise<void> {
    let failures = 0
    for (;;) {
      const model = await link.up()
      if (!model || ended.signal.aborted) return
      const since = performance.now()
      await use(model).catch(error => log.warn({ channel: name, err: String(error) }, 'broker.channel_not_ready'))
      failures = performance.now() - since > backoff.longestMs ? 0 : failures + 1
      if (link.live() === model) await nap(clock, pauseAfter(backoff, failures), ended.signal)
    }
  }

  void keep()

  return {
    ready: () => (prepared ? current : undefined),
    opened,
    isOpen: channel => current === channel,
    renew(channel) {
      forget(channel)
      void closeChannel(channel, clock)
    },
    retire: () => ended.abort(),
    async close() {
      ended.abort()
      const channel = current
      if (!channel) return
      forget(channel)
      await closeChannel(channel, clock)
    },
  }
}

const FAREWELL_MS = 2_000

/** amqplib's own `close` never settles when the connection dies meanwhile, and waits for the answer of a broker that stalls. */
const closeChannel = (channel: Channel, clock: Clock): Promise<void> =>
  new Promise(resolve => {
    const over = () => {
      cancel()
      resolve()
    }
    const cancel = clock.after(FAREWELL_MS, over)
    channel.once('close', over)
    channel.close().then(over, over)
  })

/** Lends a channel of its own to one task, so that whatever it breaks breaks nothing else. */
export async function aside<T>(link: Link, clock: Clock, task: (channel: Channel) => Promise<T>): Promise<T> {
  const model = link.live()
  if (!model) throw new Unavailable('RabbitMQ is not connected')
  try {
    const channel = await model.createChannel()
    channel.on('error', () => {})
    return await task(channel).finally(() => closeChannel(channel, clock))
  } catch (error) {
    throw error instanceof Unavailable ? error : new Unavailable(`RabbitMQ did not answer: ${error}`)
  }
}
