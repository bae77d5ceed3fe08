// Names of queues no other test uses, and their removal.
import { randomUUID } from 'node:crypto'
import { connect } from 'amqplib'
import { expect } from 'chai'
import { queueNames } from '../../infra/broker/amqp/queues.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Topology, WorkQueue } from '../../infra/broker/topology.ts'
import { eventually } from './eventually.ts'

export const freshPrefix = (): string => `test.${randomUUID()}`

export const up = (broker: Broker): Promise<unknown> => eventually(() => expect(broker.state()).to.equal('up'), 30_000)

export async function removeQueues({ url, topology, prefix }: { url: string; topology: Topology; prefix: string }) {
  const names = queueNames(prefix)
  const work = (Object.keys(topology.work) as WorkQueue[]).flatMap(queue => [
    names.queue(queue),
    names.dead(queue),
    ...topology.work[queue].map(delayMs => names.wait(queue, delayMs)),
  ])
  const connection = await connect(url, { noDelay: true })
  const channel = await connection.createChannel()
  for (const queue of [...topology.calls.map(names.queue), ...work]) await channel.deleteQueue(queue)
  await connection.close()
}
