// The broker in this process, for one process that plays every role. In: the table of queues, a clock. Out: the broker port.
//
// Messages are in memory only. After a restart the sweeper publishes again what the store still lists as unpublished: the outbox of
// verifications, due events. So a publish resolves only when its handler is done; before that the store must not forget the work.
import { setImmediate } from 'node:timers'
import type { Clock } from '../clock.ts'
import { Unavailable } from '../unavailable.ts'
import { type Broker, Unroutable } from './broker.ts'
import { createDeaths } from './deaths.ts'
import { createCallQueue, type MemoryCallQueue } from './embedded/call-queue.ts'
import { createWorkQueue, type Log, type MemoryWorkQueue } from './embedded/work-queue.ts'
import { createPausableConsumer } from './pausable-consumer.ts'
import { type Topology, WORK_QUEUES } from './topology.ts'

export interface EmbeddedBrokerOptions {
  topology: Topology
  clock: Clock
  log?: Log
}

export function createEmbeddedBroker({ topology, clock, log }: EmbeddedBrokerOptions): Broker {
  const work = new Map<string, MemoryWorkQueue>()
  const calls = new Map<string, MemoryCallQueue>()
  const deaths = createDeaths({ clock, log })
  for (const queue of WORK_QUEUES)
    work.set(queue, createWorkQueue({ queue, delays: topology.work[queue], clock, log, deaths }))
  for (const queue of topology.calls) calls.set(queue, createCallQueue({ queue, clock, log }))
  let closed = false

  function requireOpen(): void {
    if (closed) throw new Unavailable('the broker is closed')
  }

  return {
    publish: async (queue, message) => findQueue(work, queue).publish(message),
    request: async (queue, message, budgetMs) => findQueue(calls, queue).request(message, budgetMs),
    consume: (queue, handle, flow) =>
      createPausableConsumer(queue, async () => {
        requireOpen()
        return findQueue(work, queue).consume(handle, flow)
      }),
    serve: (queue, answer, flow) =>
      createPausableConsumer(queue, async () => {
        requireOpen()
        return findQueue(calls, queue).serve(answer, flow)
      }),
    depth: async queue => (work.get(queue) ?? findQueue(calls, queue)).depth(),
    dead: queue => findQueue(work, queue).dead,
    onDeath: deaths.listen,
    async roundTrip() {
      requireOpen()
      // There is no engine between sender and receiver: a message comes back in the next turn of the event loop.
      await new Promise(resolve => setImmediate(resolve))
    },
    whenUp: async () => requireOpen(),
    state: () => (closed ? 'down' : 'up'),
    async close(graceMs) {
      closed = true
      await Promise.all([...work.values(), ...calls.values()].map(queue => queue.close(graceMs)))
      deaths.close()
    },
  }
}

function findQueue<Q>(queues: Map<string, Q>, name: string): Q {
  const queue = queues.get(name)
  if (!queue) throw new Unroutable(`there is no queue ${name}`)
  return queue
}
