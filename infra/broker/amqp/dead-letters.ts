// The dead letters of a queue, for operators. In: ids, limits. Out: the port's `DeadLetters`. RabbitMQ has no way to read a queue without
// consuming it, so the oldest letters are consumed and returned afterwards. When this process dies meanwhile, RabbitMQ returns them.
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Clock } from '../../clock.ts'
import type { DeadLetters } from '../broker.ts'
import type { WorkQueue } from '../topology.ts'
import { sleep } from './backoff.ts'
import { withChannel } from './channel.ts'
import type { Connection } from './connection.ts'
import { deadLetterOf, messageProperties, metaOf } from './envelope.ts'
import type { Publisher } from './publisher.ts'
import type { QueueNames } from './queues.ts'

export interface DeadLetterOptions {
  connection: Connection
  clock: Clock
  names: QueueNames
  publisher: Pick<Publisher, 'send'>
}

/** A quorum queue delivers returned messages first, in the order they were returned. The order of letters is kept only if every
 *  inspection takes at least as many as the one before returned, so each takes this many. Past this number, operators must requeue or
 *  drop the oldest letters before they see the newer ones. */
const MAX_INSPECTED = 2_000
/** How long to wait for letters that were counted and do not come, because another process inspects them. */
const IDLE_TIMEOUT_MS = 5_000
const POLL_MS = 5

export function createDeadLetters(
  { connection, clock, names, publisher }: DeadLetterOptions,
  queue: WorkQueue,
): DeadLetters {
  const name = names.dead(queue)
  let lastRun: Promise<unknown> = Promise.resolve()

  /** One inspection at a time: two at once would each see only a part of the letters. */
  function runExclusively<T>(task: (channel: Channel) => Promise<T>): Promise<T> {
    const result = lastRun.then(() => withChannel(connection, clock, task))
    lastRun = result.catch(() => {})
    return result
  }

  const inspect = <T>(task: (letters: ConsumeMessage[], remove: (letter: ConsumeMessage) => void) => Promise<T>) =>
    runExclusively(async channel => {
      const { messageCount } = await channel.checkQueue(name)
      const letters = messageCount === 0 ? [] : await take(channel, name, Math.min(messageCount, MAX_INSPECTED), clock)
      let left = messageCount
      const remove = (letter: ConsumeMessage) => {
        channel.ack(letter)
        left -= 1
      }
      try {
        return await task(letters, remove)
      } finally {
        if (letters.length > 0) channel.nackAll(true)
        await waitForCount(channel, name, left, clock)
      }
    })

  /** Runs `act` for each letter with one of these ids, and removes the letter once `act` has succeeded. */
  const removeAfter = (ids: string[], act: (letter: ConsumeMessage) => Promise<void>): Promise<number> =>
    inspect(async (letters, remove) => {
      const named = letters.filter(letter => ids.includes(metaOf(letter).id))
      const results = await Promise.allSettled(named.map(letter => act(letter).then(() => remove(letter))))
      for (const one of results) if (one.status === 'rejected') throw one.reason
      return new Set(named.map(letter => metaOf(letter).id)).size
    })

  return {
    list: limit => inspect(async letters => letters.slice(0, limit).map(deadLetterOf)),
    requeue: ids =>
      removeAfter(ids, letter => {
        // Every inspection is a delivery, so RabbitMQ's own word on the letter means nothing.
        const properties = messageProperties({ ...metaOf(letter), attempt: 1, redelivered: false })
        return publisher.send(names.queue(queue), letter.content, properties)
      }),
    drop: ids => removeAfter(ids, async () => {}),
    count: () => runExclusively(async channel => (await channel.checkQueue(name)).messageCount),
  }
}

async function take(channel: Channel, name: string, count: number, clock: Clock): Promise<ConsumeMessage[]> {
  const letters: ConsumeMessage[] = []
  const enough = new AbortController()
  await channel.prefetch(MAX_INSPECTED)
  const { consumerTag } = await channel.consume(name, letter => {
    if (letter) letters.push(letter)
    if (!letter || letters.length >= count) enough.abort()
  })
  for (let before = -1; before < letters.length && !enough.signal.aborted; ) {
    before = letters.length
    await sleep(clock, IDLE_TIMEOUT_MS, enough.signal)
  }
  await channel.cancel(consumerTag)
  return letters
}

/** A quorum queue takes letters back asynchronously. The next inspection must find them. */
async function waitForCount(channel: Channel, name: string, count: number, clock: Clock): Promise<void> {
  const giveUpAt = performance.now() + IDLE_TIMEOUT_MS
  while ((await channel.checkQueue(name)).messageCount < count && performance.now() < giveUpAt)
    await sleep(clock, POLL_MS)
}
