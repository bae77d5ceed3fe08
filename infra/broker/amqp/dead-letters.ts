// The dead letters of a queue, for operators. In: ids, limits. Out: the port's `DeadLetters`. RabbitMQ has no way to read a queue without
// consuming it, so letters are consumed and returned afterwards. When this process dies meanwhile, RabbitMQ returns them. Only one
// process at a time does this: two would each see a part of the letters.
import type { Channel, ConsumeMessage } from 'amqplib'
import type { Clock } from '../../clock.ts'
import { sleep } from '../../timeout.ts'
import { Unavailable } from '../../unavailable.ts'
import type { DeadLetters } from '../broker.ts'
import type { WorkQueue } from '../topology.ts'
import { withChannel } from './channel.ts'
import type { Connection } from './connection.ts'
import { deadLetterOf, messageProperties, metaOf, positionOf } from './envelope.ts'
import type { Publisher } from './publisher.ts'
import { falseFor, type QueueNames } from './queues.ts'

export interface DeadLetterOptions {
  connection: Connection
  clock: Clock
  names: QueueNames
  publisher: Pick<Publisher, 'send'>
}

/** The letters that one inspection takes: some 20 MB, in a quarter of a second. Letters past this number are listed once older ones are
 *  requeued or dropped. */
const MAX_INSPECTED = 10_000
/** Letters of other programs may be large. Those past this size are not kept in memory, and not listed. */
const MAX_INSPECTED_BYTES = 64 * 1_024 * 1_024
/** Requeueing all takes this many at a time, so that it needs little memory for any number of letters. */
const CHUNK_SIZE = 500
/** Requeueing all ends after this time with what it has done, so that its caller gets an answer. */
const REQUEUE_ALL_MS = 20_000
/** How long to wait for letters that were counted and do not come, because another program holds them. */
const IDLE_TIMEOUT_MS = 5_000
/** How long to wait for another process that inspects. */
const LOCK_WAIT_MS = 10_000
const LOCK_POLL_MS = 100
const COUNT_WAIT_MS = 1_000
const POLL_MS = 5

export function createDeadLetters(
  { connection, clock, names, publisher }: DeadLetterOptions,
  queue: WorkQueue,
): DeadLetters {
  const name = names.dead(queue)
  const lock = names.deadLock(queue)
  let lastRun: Promise<unknown> = Promise.resolve()

  /** One inspection at a time in this process. */
  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const result = lastRun.then(task)
    lastRun = result.catch(() => {})
    return result
  }

  /** One inspection at a time among all processes. RabbitMQ gives an exclusive queue to one connection, and removes it
   *  with the connection. */
  const runExclusively = <T>(task: (channel: Channel) => Promise<T>): Promise<T> =>
    inTurn(async () => {
      for (const giveUpAt = performance.now() + LOCK_WAIT_MS; performance.now() < giveUpAt; ) {
        const run = await withChannel(connection, clock, async channel =>
          (await takeLock(channel, lock)) ? { result: await task(channel).finally(releaseLock) } : undefined,
        )
        if (run) return run.result
        await sleep(clock, LOCK_POLL_MS)
      }
      throw new Unavailable('another process inspects the dead letters')
    })

  /** On a channel of its own: the task may have lost the other one. A lost connection has released the lock. */
  const releaseLock = (): Promise<void> =>
    withChannel(connection, clock, async channel => void (await channel.deleteQueue(lock))).catch(() => {})

  const inspect = <T>(task: (letters: ConsumeMessage[], remove: (letter: ConsumeMessage) => void) => Promise<T>) =>
    runExclusively(async channel => {
      const { messageCount } = await channel.checkQueue(name)
      const letters = await take(channel, name, Math.min(messageCount, MAX_INSPECTED), clock)
      let removed = 0
      const remove = (letter: ConsumeMessage) => {
        channel.ack(letter)
        removed += 1
      }
      try {
        return await task(letters, remove)
      } finally {
        await returnLetters(channel, messageCount, removed)
      }
    })

  /** Returns those that were taken and not removed. */
  async function returnLetters(channel: Channel, counted: number, removed: number): Promise<void> {
    if (counted > 0) channel.nackAll(true)
    await waitForCount(channel, name, counted - removed, clock)
  }

  /** Runs `act` for each letter with one of these ids, and removes the letter once `act` has succeeded. */
  const removeAfter = (ids: readonly string[], act: (letter: ConsumeMessage) => Promise<void>): Promise<number> =>
    inspect(async (letters, remove) => {
      const wanted = new Set(ids)
      const named = letters.filter(letter => wanted.has(metaOf(letter).id))
      await settleAll(named.map(letter => act(letter).then(() => remove(letter))))
      return named.length
    })

  function requeueOne(letter: ConsumeMessage): Promise<void> {
    // Every inspection is a delivery, so RabbitMQ's own word on the letter means nothing.
    const fresh = { attempt: 1, failures: 0, redelivered: false, publishedAgain: true }
    const properties = messageProperties({ ...metaOf(letter), ...fresh })
    return publisher.send(names.queue(queue), letter.content, properties)
  }

  /** The letters that there are at the beginning: one that dies again is a new letter, at the end of the queue. */
  const requeueAll = (): Promise<number> =>
    runExclusively(async channel => {
      const { messageCount } = await channel.checkQueue(name)
      const endAt = performance.now() + REQUEUE_ALL_MS
      let requeued = 0
      const requeueAndRemove = async (letter: ConsumeMessage): Promise<void> => {
        await requeueOne(letter)
        channel.ack(letter)
        requeued += 1
      }
      try {
        while (requeued < messageCount && performance.now() < endAt) {
          const letters = await take(channel, name, Math.min(messageCount - requeued, CHUNK_SIZE), clock)
          if (letters.length === 0) break
          await settleAll(letters.map(requeueAndRemove))
        }
        return requeued
      } finally {
        await returnLetters(channel, messageCount, requeued)
      }
    })

  const dropAll = (): Promise<number> => runExclusively(async channel => (await channel.purgeQueue(name)).messageCount)

  return {
    list: (limit, after = '') =>
      inspect(async letters =>
        letters
          .map(letter => ({ letter, position: positionOf(letter) }))
          .filter(({ position }) => position > after)
          .sort((one, other) => (one.position < other.position ? -1 : 1))
          .slice(0, limit)
          .map(({ letter }) => deadLetterOf(letter)),
      ),
    get: id =>
      inspect(async letters => {
        const named = letters.filter(letter => metaOf(letter).id === id).map(deadLetterOf)
        return named.sort((one, other) => other.diedAt - one.diedAt)[0] ?? null
      }),
    requeue: ids => (ids === 'all' ? requeueAll() : removeAfter(ids, requeueOne)),
    drop: ids => (ids === 'all' ? dropAll() : removeAfter(ids, async () => {})),
  }
}

/** RabbitMQ counts the letters that no inspection holds, so the end of an inspection is awaited for a moment. Its consumer is counted
 *  until it has returned its letters. */
export async function countDeadLetters(channel: Channel, name: string, clock: Clock): Promise<number> {
  for (const giveUpAt = performance.now() + COUNT_WAIT_MS; ; await sleep(clock, POLL_MS)) {
    const { messageCount, consumerCount } = await channel.checkQueue(name)
    if (consumerCount === 0 || performance.now() >= giveUpAt) return messageCount
  }
}

/** False while another connection has the lock. RabbitMQ has then closed the channel. */
const takeLock = (channel: Channel, lock: string): Promise<boolean> =>
  channel.assertQueue(lock, { exclusive: true, durable: false }).then(() => true, falseFor(RESOURCE_LOCKED))

const RESOURCE_LOCKED = 405

/** Takes as many letters as are asked for, fewer where others do not come. They stay unsettled. */
async function take(channel: Channel, name: string, count: number, clock: Clock): Promise<ConsumeMessage[]> {
  if (count === 0) return []
  const letters: ConsumeMessage[] = []
  const enough = new AbortController()
  let bytes = 0
  await channel.prefetch(count)
  const { consumerTag } = await channel.consume(name, letter => {
    bytes += letter?.content.length ?? 0
    if (letter && bytes <= MAX_INSPECTED_BYTES) letters.push(letter)
    if (!letter || bytes > MAX_INSPECTED_BYTES || letters.length >= count) enough.abort()
  })
  for (let before = -1; before < letters.length && !enough.signal.aborted; ) {
    before = letters.length
    await sleep(clock, IDLE_TIMEOUT_MS, enough.signal)
  }
  await channel.cancel(consumerTag)
  return letters
}

/** Waits for all, then throws the first error, if any. */
async function settleAll(tasks: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(tasks)) if (result.status === 'rejected') throw result.reason
}

/** A quorum queue takes letters back asynchronously. The next inspection must find them. */
async function waitForCount(channel: Channel, name: string, count: number, clock: Clock): Promise<void> {
  const giveUpAt = performance.now() + IDLE_TIMEOUT_MS
  while ((await channel.checkQueue(name)).messageCount < count && performance.now() < giveUpAt)
    await sleep(clock, POLL_MS)
}
