// Every collection there is, with the indexes its lookups need. Both adapters create them from this table.

import { collection, type Store } from '../../infra/store/store.ts'
import type { IpChunkDoc, IpListDoc } from './address-lists/documents.ts'
import type { BlockDoc, DecisionDoc, TallyDoc } from './fraud/documents.ts'
import type { LedgerDoc } from './money/documents.ts'
import type { CanaryDoc } from './privacy/canary.ts'
import type { RotationDoc } from './privacy/documents.ts'
import type { ApiKey, App, Company, Price, Provider, WebhookEndpoint } from './tenancy/documents.ts'
import type {
  AttemptDoc,
  AuditDoc,
  ClaimDoc,
  CounterDoc,
  EventDoc,
  LeaseDoc,
  OtpDoc,
  SandboxMessageDoc,
} from './verifications/documents.ts'

export const COLLECTIONS = {
  companies: collection<Company>({ indexes: [{ fields: { behind_at: 1 }, partial: { behind_at: { $gt: 0 } } }] }),
  apps: collection<App>({ indexes: [{ fields: { company_id: 1, _id: 1 } }] }),
  keys: collection<ApiKey>({ indexes: [{ fields: { hash: 1 }, unique: true }, { fields: { app_id: 1, _id: 1 } }] }),
  webhooks: collection<WebhookEndpoint>({
    indexes: [{ fields: { drain_at: 1 }, partial: { drain_at: { $gt: 0 } } }],
  }),
  providers: collection<Provider>({ indexes: [{ fields: { app_id: 1, position: 1, _id: 1 } }] }),
  prices: collection<Price>({ indexes: [] }),
  ledger: collection<LedgerDoc>({
    indexes: [
      { fields: { company_id: 1, _id: -1 } },
      { fields: { entry: 1 }, unique: true },
      { fields: { partition: 1, check_at: 1 }, partial: { check_at: { $gt: 0 } } },
    ],
  }),
  ip_lists: collection<IpListDoc>({ indexes: [{ fields: { due_at: 1 }, partial: { due_at: { $gt: 0 } } }] }),
  ip_chunks: collection<IpChunkDoc>({ indexes: [] }),
  otps: collection<OtpDoc>({
    indexes: [
      { fields: { app_id: 1, mode: 1, recipient: 1, _id: -1 } },
      { fields: { app_id: 1, _id: -1 } },
      { fields: { reference: 1 }, unique: true, partial: { reference: { $exists: true } } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { partition: 1, outbox_at: 1 }, partial: { outbox_at: { $gt: 0 } } },
    ],
    purged: true,
  }),
  claims: collection<ClaimDoc>({
    indexes: [{ fields: { partition: 1, held_until: 1 }, partial: { held_until: { $gt: 0 } } }],
    purged: true,
  }),
  leases: collection<LeaseDoc>({ indexes: [] }),
  canaries: collection<CanaryDoc>({ indexes: [] }),
  rotations: collection<RotationDoc>({ indexes: [] }),
  counters: collection<CounterDoc>({ indexes: [], purged: true }),
  fraud_tallies: collection<TallyDoc>({ indexes: [{ fields: { app_id: 1, _id: 1 } }], purged: true }),
  fraud_blocks: collection<BlockDoc>({ indexes: [], purged: true }),
  fraud_decisions: collection<DecisionDoc>({
    indexes: [{ fields: { app_id: 1, _id: -1 } }, { fields: { app_id: 1, mode: 1, recipient: 1, _id: -1 } }],
    purged: true,
  }),
  attempts: collection<AttemptDoc>({
    indexes: [{ fields: { app_id: 1, provider: 1, reference: 1 }, partial: { reference: { $gt: '' } } }],
    purged: true,
  }),
  sandbox_messages: collection<SandboxMessageDoc>({
    indexes: [{ fields: { recipient: 1, _id: -1 } }, { fields: { company_id: 1, _id: -1 } }],
    purged: true,
  }),
  events: collection<EventDoc>({
    indexes: [
      { fields: { app_id: 1, _id: -1 } },
      { fields: { partition: 1, due_at: 1 }, partial: { due_at: { $gt: 0 } } },
      { fields: { app_id: 1, backlog_at: 1 }, partial: { backlog_at: { $gt: 0 } } },
      { fields: { 'payload.otp_id': 1, _id: -1 } },
      // Of all states the two that are between in the alphabet, and rare: `failed` and `held`.
      { fields: { app_id: 1, status: 1, _id: -1 }, partial: { status: { $gt: 'delivered', $lt: 'pending' } } },
    ],
    purged: true,
  }),
  audit: collection<AuditDoc>({ indexes: [{ fields: { company_id: 1, _id: -1 } }] }),
}

export type CountersignStore = Store<typeof COLLECTIONS>
