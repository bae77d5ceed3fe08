// The bare pipeline: the least that a service of this kind must do on these engines. An edge sends a request; an actor inserts,
// publishes and answers; no consumer is attached. It is the baseline for everything else that the product does.
import { createTopology } from '../../infra/broker/topology.ts'
import { readConfig } from '../../infra/config/config.ts'
import { collection } from '../../infra/store/store.ts'
import { brokerDelays } from '../../services/domain/webhooks/retry-waits.ts'
import type { Sample } from './samples.ts'

/** The product's queues, which are removed with its site. */
export const BARE_TOPOLOGY = createTopology(brokerDelays(readConfig({}, []).backoff))

export const BARE_COLLECTIONS = {
  sends: collection<Sample>({ indexes: [{ fields: { app_id: 1, recipient: 1, created_at: -1 } }] }),
}

export const BARE_BUDGET_MS = 5_000
