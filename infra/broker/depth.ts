// How many messages wait in a queue, and how many consumers take them, from a broker that may not answer.
import type { Clock } from '../clock.ts'
import { withTimeout } from '../timeout.ts'
import { Unavailable } from '../unavailable.ts'
import type { Broker, Depth } from './broker.ts'
import type { Queue } from './topology.ts'

/** A scrape, the dashboard and the sweeper must not hang when the broker hangs: that is when operators look. */
const DEPTH_TIMEOUT_MS = 2_000

/** Throws `Unavailable` when the broker fails or does not answer in time. */
export async function readDepth(broker: Pick<Broker, 'depth'>, queue: Queue, clock: Clock): Promise<Depth> {
  const depth = await withTimeout(clock, DEPTH_TIMEOUT_MS, broker.depth(queue))
  if (!depth) throw new Unavailable('the broker does not answer')
  return depth
}

/** Undefined when the broker fails or does not answer in time. */
export const depthIfKnown = (broker: Pick<Broker, 'depth'>, queue: Queue, clock: Clock): Promise<Depth | undefined> =>
  readDepth(broker, queue, clock).catch(() => undefined)
