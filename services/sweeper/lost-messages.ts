// What the sweeps of owed deliveries and of owed events share: whether a queue may still hold a message, and when a message that was
// published again is looked for the next time.
import type { Broker, Depth } from '../../infra/broker/broker.ts'
import { readDepth } from '../../infra/broker/depth.ts'
import type { WorkQueue } from '../../infra/broker/topology.ts'
import type { Clock } from '../../infra/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../infra/time.ts'

/** The soonest that a message is looked for again that may still be with the broker. */
export const LOOK_AGAIN_MS = 10_000
const PUBLISH_AGAIN_MS = MINUTE_MS
/** Work that waits for so long is not helped by one more message. */
export const GIVE_UP_AFTER_MS = DAY_MS
/** A message may be taken this much before an older one: it is published late, or it waits in a consumer that takes many. */
const OVERTAKING_MS = 10_000

export interface QueueLook {
  broker: Pick<Broker, 'depth'>
  clock: Clock
  queue: WorkQueue
  /** The time of the newest work that a consumer of the queue has taken, as the store tells it; 0 when it does not. */
  newestTaken(): Promise<number>
  now: number
}

/** Whether the queue may hold the message of work of this time; asks the broker and the store once. RabbitMQ tells the age of no message.
 *  There, the queue holds none that is older than what its consumers have taken, because they take messages in about their order. */
export function createMayHold({ broker, clock, queue, newestTaken, now }: QueueLook): (at: number) => Promise<boolean> {
  let depth: Promise<Depth> | null = null
  let taken: Promise<number> | null = null
  return async at => {
    depth ??= readDepth(broker, queue, clock)
    const { ready, oldestMs } = await depth
    if (ready === 0) return false
    if (oldestMs !== null) return now - oldestMs <= at
    taken ??= newestTaken()
    return (await taken) < at + OVERTAKING_MS
  }
}

/** How long to wait after a look that published nothing. */
export const waitForBroker = (ageMs: number): number => Math.ceil(Math.max(LOOK_AGAIN_MS, ageMs / 2))

/** How long to wait after a message was published again. From the first look on, each wait is a minute more than all waits before it: 1, 2,
 *  4 … minutes. */
export const waitAfterPublish = (ageMs: number, firstLookMs: number): number =>
  Math.max(ageMs - firstLookMs, 0) + PUBLISH_AGAIN_MS
