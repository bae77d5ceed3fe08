// How many messages wait in a queue, and who takes them. In: a queue. Out: its depth, or a refusal when the broker does not say.
import type { Broker, Depth } from '../../../infra/broker/broker.ts'
import type { Queue } from '../../../infra/broker/topology.ts'
import type { Clock } from '../../../infra/clock.ts'
import { withTimeout } from '../../../infra/timeout.ts'
import { Unavailable } from '../../../infra/unavailable.ts'

const DEPTH_TIMEOUT_MS = 5_000

export const createReadDepth =
  ({ broker, clock }: { broker: Pick<Broker, 'depth'>; clock: Clock }) =>
  async (queue: Queue): Promise<Depth> => {
    const depth = await withTimeout(clock, DEPTH_TIMEOUT_MS, broker.depth(queue))
    if (!depth) throw new Unavailable('the broker does not answer')
    return depth
  }
