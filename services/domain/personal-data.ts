// What each collection keeps of a recipient. An erasure removes what is declared as `erased`, an export shows it, and the table in
// docs/privacy.md names it. A new collection must be declared here.
import type { COLLECTIONS } from './collections.ts'

export type CollectionName = keyof typeof COLLECTIONS

/** `erased`: data that an erasure removes. `ids`: ids of verifications, which lead nowhere once these are erased; an event has the answers
 *  of endpoints too, until then. `index`: that a keyed index of the recipient was erased. `never`: nothing of a recipient at any time. */
export const PERSONAL_DATA = {
  otps: 'erased',
  attempts: 'erased',
  claims: 'erased',
  metadata_indexes: 'erased',
  joined_ids: 'erased',
  sandbox_messages: 'erased',
  refusals: 'erased',
  counters: 'erased',
  fraud_decisions: 'erased',
  fraud_numbers: 'erased',
  fraud_blocks: 'erased',
  erasures: 'index',
  // Of a recipient who said STOP: it holds on by its index after an erasure, which takes the recipient out.
  recipient_rules: 'index',
  events: 'ids',
  ledger: 'ids',
  companies: 'ids',
  channel_loads: 'ids',
  apps: 'never',
  keys: 'never',
  webhooks: 'never',
  providers: 'never',
  breakers: 'never',
  prices: 'never',
  audit: 'never',
  users: 'never',
  sessions: 'never',
  passkeys: 'never',
  spent_assertions: 'never',
  sign_in_tickets: 'never',
  sign_in_flows: 'never',
  known_browsers: 'never',
  sign_in_mails: 'never',
  invitation_times: 'never',
  notices: 'never',
  ip_lists: 'never',
  ip_chunks: 'never',
  fraud_tallies: 'never',
  fraud_networks: 'never',
  stats_hours: 'never',
  stats_days: 'never',
  stats_progress: 'never',
  route_slots: 'never',
  route_facts: 'never',
  route_outages: 'never',
  event_looks: 'never',
  spent_challenges: 'never',
  leases: 'never',
  write_probes: 'never',
  canaries: 'never',
  rotations: 'never',
  deletions: 'never',
} as const satisfies Record<CollectionName, 'erased' | 'ids' | 'index' | 'never'>

/** The collections with what an erasure removes, or records. */
export type PersonalCollection = {
  [Name in CollectionName]: (typeof PERSONAL_DATA)[Name] extends 'erased' | 'index' ? Name : never
}[CollectionName]
