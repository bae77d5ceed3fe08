// The engines of a site without the rest of the composition, for child processes: loading all of Countersign takes seconds.
import type { Broker } from '../../infra/broker/broker.ts'
import { topology } from '../../infra/broker/topology.ts'
import { systemClock as clock } from '../../infra/clock.ts'
import { readConfig } from '../../infra/config/config.ts'
import { type CountersignStore, COLLECTIONS as collections } from '../../services/domain/collections.ts'
import { brokerDelays } from '../../services/domain/webhooks/ladder.ts'
import type { Env } from './site.ts'

export async function bareEngines(env: Partial<Env>): Promise<{ broker: Broker; store: CountersignStore }> {
  const { engine, backoff, dataDir } = readConfig(env, [])
  const queues = topology(brokerDelays(backoff))
  if (engine.kind === 'embedded') {
    const { embeddedStore } = await import('../../infra/store/embedded.ts')
    const { embeddedBroker } = await import('../../infra/broker/embedded.ts')
    const store = embeddedStore({ folder: dataDir, collections, clock })
    return { store, broker: embeddedBroker({ topology: queues, clock }) }
  }
  const { mongoStore } = await import('../../infra/store/mongo.ts')
  const { amqpBroker } = await import('../../infra/broker/amqp.ts')
  const store = mongoStore({ url: engine.mongodbUrl, collections })
  return { store, broker: amqpBroker({ url: engine.amqpUrl, topology: queues, prefix: env.AMQP_PREFIX ?? '' }) }
}
