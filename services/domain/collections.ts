// All collections. Each folder of the domain declares its documents and their indexes in documents.ts; both store adapters create the
// collections from this table. Each says what it belongs to, so that it is deleted with it.
import { LEASE_COLLECTIONS } from '../../infra/leases.ts'
import { READINESS_COLLECTIONS } from '../../infra/readiness.ts'
import type { Store } from '../../infra/store/store.ts'
import { ADDRESS_LIST_COLLECTIONS } from './address-lists/documents.ts'
import { AUDIT_COLLECTIONS } from './audit.ts'
import { BACKLOG_COLLECTIONS } from './backlog/documents.ts'
import { BREAKER_COLLECTIONS } from './breakers/documents.ts'
import { FRAUD_COLLECTIONS } from './fraud/documents.ts'
import { MONEY_COLLECTIONS } from './money/documents.ts'
import { NOTICE_COLLECTIONS } from './notices/documents.ts'
import { PRIVACY_COLLECTIONS } from './privacy/documents.ts'
import { RECIPIENT_COLLECTIONS } from './recipients/documents.ts'
import { REFUSAL_COLLECTIONS } from './refusals/documents.ts'
import { ROUTE_COLLECTIONS } from './routes/documents.ts'
import { STATS_COLLECTIONS } from './stats/documents.ts'
import { TENANCY_COLLECTIONS } from './tenancy/documents.ts'
import { USER_COLLECTIONS } from './users/documents.ts'
import { VERIFICATION_COLLECTIONS } from './verifications/documents.ts'
import { WEBHOOK_COLLECTIONS } from './webhooks/documents.ts'

export const COLLECTIONS = {
  ...TENANCY_COLLECTIONS,
  ...USER_COLLECTIONS,
  ...VERIFICATION_COLLECTIONS,
  ...WEBHOOK_COLLECTIONS,
  ...MONEY_COLLECTIONS,
  ...BREAKER_COLLECTIONS,
  ...BACKLOG_COLLECTIONS,
  ...NOTICE_COLLECTIONS,
  ...FRAUD_COLLECTIONS,
  ...ADDRESS_LIST_COLLECTIONS,
  ...RECIPIENT_COLLECTIONS,
  ...REFUSAL_COLLECTIONS,
  ...PRIVACY_COLLECTIONS,
  ...STATS_COLLECTIONS,
  ...ROUTE_COLLECTIONS,
  ...AUDIT_COLLECTIONS,
  ...LEASE_COLLECTIONS,
  ...READINESS_COLLECTIONS,
}

export type CountersignStore = Store<typeof COLLECTIONS>
