// The broker and the store of a site without the services, for child processes: loading all of Countersign takes seconds.
import type { Broker } from '../../infra/broker/broker.ts'
import { createTopology } from '../../infra/broker/topology.ts'
import { systemClock as clock } from '../../infra/clock.ts'
import { readConfig } from '../../infra/config/config.ts'
import { type CountersignStore, COLLECTIONS as collections } from '../../services/domain/collections.ts'
import { brokerDelays } from '../../services/domain/webhooks/retry-waits.ts'
import type { Env } from './site.ts'

export async function openBareEngines(env: Partial<Env>): Promise<{ broker: Broker; store: CountersignStore }> {
  const { engine, backoff, dataDir } = readConfig(env, [])
  const topology = createTopology(brokerDelays(backoff))
  if (engine.kind === 'embedded') {
    const { createEmbeddedStore } = await import('../../infra/store/embedded.ts')
    const { createEmbeddedBroker } = await import('../../infra/broker/embedded.ts')
    const store = createEmbeddedStore({ folder: dataDir, collections, clock })
    return { store, broker: createEmbeddedBroker({ topology, clock }) }
  }
  const { createMongoStore } = await import('../../infra/store/mongo.ts')
  const { createAmqpBroker } = await import('../../infra/broker/amqp.ts')
  const store = createMongoStore({ url: engine.mongodbUrl, collections })
  return { store, broker: createAmqpBroker({ urls: engine.amqpUrls, topology, prefix: env.AMQP_PREFIX ?? '' }) }
}
