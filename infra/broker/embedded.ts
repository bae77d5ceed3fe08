// The broker in this process. No disk: after a restart, work is published again from what the store holds. So a publish here
// resolves only when its handler is done, and what it stood for may then be forgotten.
import type { Clock } from '../clock.ts'
import { Unavailable } from '../unavailable.ts'
import { type Broker, Unroutable } from './broker.ts'
import { callQueue, type MemoryCalls } from './embedded/calls.ts'
import { type Log, type MemoryWork, workQueue } from './embedded/work.ts'
import type { Topology } from './topology.ts'

export interface EmbeddedBrokerOptions {
  topology: Topology
  clock: Clock
  log?: Log
}

export function embeddedBroker({ topology, clock, log }: EmbeddedBrokerOptions): Broker {
  const work = new Map<string, MemoryWork>()
  const calls = new Map<string, MemoryCalls>()
  for (const [queue, delays] of Object.entries(topology.work)) {
    work.set(queue, workQueue({ queue, delays, clock, log }))
  }
  for (const queue of topology.calls) calls.set(queue, callQueue({ queue, clock, log }))
  let closed = false

  function open(): void {
    if (closed) throw new Unavailable('the broker is closed')
  }

  return {
    publish: async (queue, message) => named(work, queue).publish(message),
    request: async (queue, message, budgetMs) => named(calls, queue).request(message, budgetMs),
    async consume(queue, handle, flow) {
      open()
      return named(work, queue).consume(handle, flow)
    },
    async serve(queue, answer, flow) {
      open()
      return named(calls, queue).serve(answer, flow)
    },
    depth: async queue => (work.get(queue) ?? named(calls, queue)).depth(),
    dead: queue => named(work, queue).dead,
    state: () => (closed ? 'down' : 'up'),
    async close(graceMs) {
      closed = true
      await Promise.all([...work.values(), ...calls.values()].map(queue => queue.close(graceMs)))
    },
  }
}

function named<Q>(queues: Map<string, Q>, name: string): Q {
  const queue = queues.get(name)
  if (!queue) throw new Unroutable(`there is no queue ${name}`)
  return queue
}
