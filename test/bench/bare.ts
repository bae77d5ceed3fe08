// The bare pipeline: the least that a service of this kind must do on these engines. An edge sends a request; an actor inserts,
// publishes and answers; no consumer is attached. It is the baseline for everything else that the product does.
import { createTopology } from '../../infra/broker/topology.ts'
import { readConfig } from '../../infra/config/config.ts'
import { collection } from '../../infra/store/store.ts'
import type { Sample } from './samples.ts'

/** As large as the product's documents. */
export const BARE_TOPOLOGY = createTopology(readConfig({}, []).backoff)

export const BARE_COLLECTIONS = {
  sends: collection<Sample>({ indexes: [{ fields: { app_id: 1, recipient: 1, created_at: -1 } }] }),
}

export const BARE_BUDGET_MS = 5_000
