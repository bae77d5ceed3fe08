// What is stored about learned routes. The OTP actor counts messages by hour and by slot, the sweeper makes facts from the counts, and the
// channel processes and the admin API read the facts.
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection } from '../../../infra/store/store.ts'
import type { RouteFact } from '../../../machines/routes.ts'

/** An app's facts: one document, so that a channel process learns all of an app with one read. */
export interface RouteFactsDoc extends RevisedDoc {
  /** When the facts were made. */
  at: number
  facts: RouteFact[]
  purge_at: Date
}

export const ROUTE_COLLECTIONS = { route_facts: collection<RouteFactsDoc>({ indexes: [], purged: true }) }
