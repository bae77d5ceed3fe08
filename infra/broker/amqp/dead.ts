// The dead letters of a queue, for operators. To look, the oldest are taken, and given back when the look is over; if we die
// meanwhile RabbitMQ gives them back itself.
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Clock } from '../../clock.ts'
import type { DeadLetters } from '../broker.ts'
import type { WorkQueue } from '../topology.ts'
import { nap } from './backoff.ts'
import { aside } from './channel.ts'
import { deadLetterOf, properties, stampOf } from './envelope.ts'
import type { Link } from './link.ts'
import type { Publisher } from './publisher.ts'
import type { QueueNames } from './queues.ts'

export interface DeadLetterOptions {
  link: Link
  clock: Clock
  names: QueueNames
  publisher: Pick<Publisher, 'send'>
}

/** A quorum queue delivers what was returned to it first, in the order it was returned. So the order holds only if every look
 *  takes at least what the one before gave back: all take this many. Older ones must be dealt with before the rest is seen. */
const LOOK = 2_000
/** How long to wait for letters that were counted and do not come: another process is looking at them. */
const QUIET_MS = 5_000
const POLL_MS = 5

export function deadLetters({ link, clock, names, publisher }: DeadLetterOptions, queue: WorkQueue): DeadLetters {
  const name = names.dead(queue)
  let turn: Promise<unknown> = Promise.resolve()

  /** One at a time, so that none misses what another holds. */
  function inTurn<T>(task: (channel: Channel) => Promise<T>): Promise<T> {
    const result = turn.then(() => aside(link, clock, task))
    turn = result.catch(() => {})
    return result
  }

  const look = <T>(task: (letters: ConsumeMessage[], remove: (letter: ConsumeMessage) => void) => Promise<T>) =>
    inTurn(async channel => {
      const { messageCount } = await channel.checkQueue(name)
      const letters = messageCount === 0 ? [] : await take(channel, name, Math.min(messageCount, LOOK), clock)
      let left = messageCount
      const remove = (letter: ConsumeMessage) => {
        channel.ack(letter)
        left -= 1
      }
      try {
        return await task(letters, remove)
      } finally {
        if (letters.length > 0) channel.nackAll(true)
        await counted(channel, name, left, clock)
      }
    })

  /** Does something to each of the letters named, and removes it once that has worked. */
  const deal = (ids: string[], act: (letter: ConsumeMessage) => Promise<void>): Promise<number> =>
    look(async (letters, remove) => {
      const named = letters.filter(letter => ids.includes(stampOf(letter).id))
      const dealt = await Promise.allSettled(named.map(letter => act(letter).then(() => remove(letter))))
      for (const one of dealt) if (one.status === 'rejected') throw one.reason
      return new Set(named.map(letter => stampOf(letter).id)).size
    })

  return {
    list: limit => look(async letters => letters.slice(0, limit).map(deadLetterOf)),
    requeue: ids =>
      deal(ids, letter =>
        publisher.send(names.queue(queue), letter.content, properties({ ...stampOf(letter), attempt: 1 })),
      ),
    drop: ids => deal(ids, async () => {}),
    count: () => inTurn(async channel => (await channel.checkQueue(name)).messageCount),
  }
}

async function take(channel: Channel, name: string, count: number, clock: Clock): Promise<ConsumeMessage[]> {
  const letters: ConsumeMessage[] = []
  const enough = new AbortController()
  await channel.prefetch(LOOK)
  const { consumerTag } = await channel.consume(name, letter => {
    if (letter) letters.push(letter)
    if (!letter || letters.length >= count) enough.abort()
  })
  for (let before = -1; before < letters.length && !enough.signal.aborted; ) {
    before = letters.length
    await nap(clock, QUIET_MS, enough.signal)
  }
  await channel.cancel(consumerTag)
  return letters
}

/** Returning is asynchronous in a quorum queue: whoever looks next must find them. */
async function counted(channel: Channel, name: string, count: number, clock: Clock): Promise<void> {
  const giveUpAt = performance.now() + QUIET_MS
  while ((await channel.checkQueue(name)).messageCount < count && performance.now() < giveUpAt)
    await nap(clock, POLL_MS)
}
