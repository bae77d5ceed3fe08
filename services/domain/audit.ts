// The audit log: who changed what through the admin API. Secrets are fingerprints here.
import type { Doc } from '../../infra/store/docs.ts'
import { collection } from '../../infra/store/store.ts'

export interface AuditDoc extends Doc {
  at: number
  who: string
  company_id: string | null
  action: string
  target: string
  before: unknown
  after: unknown
  /** Written as `begun` before the change, so that nothing changes unrecorded. One that stays so was cut off: it may have happened. */
  outcome: 'begun' | 'done' | 'undone'
}

export const AUDIT_COLLECTIONS = {
  audit: collection<AuditDoc>({ indexes: [{ fields: { company_id: 1, _id: -1 } }] }),
}
