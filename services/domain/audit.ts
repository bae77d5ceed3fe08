// The audit log: who changed what through the admin API. Secrets are fingerprints here.
import type { Doc } from '../../infra/store/docs.ts'
import { collection } from '../../infra/store/store.ts'

export const EVERY_COMPANY = '*'

export interface AuditDoc extends Doc {
  at: number
  who: string
  /** `EVERY_COMPANY` where the change holds for all, so that all may see it. */
  company_id: string | null
  action: string
  target: string
  before: unknown
  after: unknown
  /** An entry is written as `begun` before its change, so that no change goes unrecorded. If a crash leaves it so, the
   *  change may or may not have been made. */
  outcome: 'begun' | 'done' | 'undone'
}

export const AUDIT_COLLECTIONS = {
  audit: collection<AuditDoc>({
    belongsTo: [{ to: null, why: 'who did what is told after the company is gone, too' }],
    indexes: [{ fields: { company_id: 1, _id: -1 } }],
  }),
}
