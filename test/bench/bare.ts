// The least that could be called sending: what any service of this kind must do on these engines, and nothing else. An edge asks,
// an actor inserts, publishes and answers; nobody consumes. The yardstick for everything the product does besides.
import { createTopology } from '../../infra/broker/topology.ts'
import { readConfig } from '../../infra/config/config.ts'
import { collection } from '../../infra/store/store.ts'
import type { Sample } from './samples.ts'

/** As large as the product's. */
export const BARE_TOPOLOGY = createTopology(readConfig({}, []).backoff)

export const BARE_COLLECTIONS = {
  sends: collection<Sample>({ indexes: [{ fields: { app_id: 1, recipient: 1, created_at: -1 } }] }),
}

export const BARE_BUDGET_MS = 5_000
