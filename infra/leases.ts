import type { Doc } from './store/docs.ts'
import { collection } from './store/store.ts'

/** A share of the sweepers' work, held by one of them for a while. */
export interface LeaseDoc extends Doc {
  holder: string
  until: number
}

export const LEASE_COLLECTIONS = { leases: collection<LeaseDoc>({ indexes: [] }) }
