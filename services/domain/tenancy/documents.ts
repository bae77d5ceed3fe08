// What is stored about tenants: companies, their apps, and the keys and providers of an app. Times are epoch milliseconds, money is in
// micro-units. A provider config is sealed for its own document: copied into another document it cannot be unsealed.
import { SWEPT } from '../../../infra/partitions.ts'
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import type { ProviderCost, ProviderScope } from '../../../machines/routing.ts'
import type { Account } from '../money/documents.ts'
import type { WEBHOOK_COLLECTIONS } from '../webhooks/documents.ts'
import { isProviderType, type ProviderType } from './provider-types/list.ts'
import type { SettingsInput } from './settings.ts'

/** What can be closed. The keys of a closed app are refused, and the admin API sends nothing for it; what it began goes
 *  on. For the apps of a closed company nothing is started either, and neither vendors nor endpoints are called: users'
 *  messages change nothing, a failed message has no fallback, what waits for a provider fails and is refunded, and
 *  events wait. What went out before is settled: receipts, refunds, expiry, retention. The users of a closed company
 *  change nothing, but they erase people. */
export interface Closable {
  /** Absent or null while it is open. */
  closed_at?: number | null
  /** True when an operator closed it: then only an operator reopens it. Absent where it was closed by others. */
  closed_by_operator?: boolean
  /** When its deletion was asked for. From then on it is found by none but the sweeper, which removes what belongs to it, and then it. */
  deleted_at?: number
}

export const isClosed = (doc: Closable | undefined): boolean => (doc?.closed_at ?? null) !== null

export interface Company extends RevisedDoc, Account, Closable {
  name: string
  created_at: number
  /** An IANA time zone, in which its months begin and end. Absent: UTC. */
  timezone?: string
  /** Its owners are told when the balance is below this. Absent: they are not. */
  low_balance_micros?: number
  /** Present with `low_balance_micros`, so that an index lists these companies by id. */
  low_balance_watch?: 1
  /** Absent: MAX_APPS. */
  max_apps?: number
  /** Absent: MAX_USERS. */
  max_users?: number
}

/** How many a company may have, closed apps and invitations included, unless an operator has set another number. */
export const MAX_APPS = 100
export const MAX_USERS = 200

/** A shorter retention, and from when it is in force. */
export interface PendingRetention {
  retention_days: number
  effective_at: number
}

export interface App extends RevisedDoc, Closable {
  company_id: string
  name: string
  /** As they were written: defaults are resolved when they are read. */
  settings: SettingsInput
  /** A shorter `retention_days` than that of the settings, from when it is in force: settingsAt (pending-retention.ts). Absent or null:
   *  none. */
  pending_retention?: PendingRetention | null
  /** The secrets of the logins that sign their calls at /hooks/…, sealed: which of them signed a call decides its mode. */
  hook_secrets?: HookSecretsOfApp
  /** The secret of the widget of challenges, sealed. The settings hold its fingerprint. */
  challenge_secret?: string | null
  created_at: number
}

/** Logins that have codes delivered and sign their calls, by the names of their receivers. */
export const SIGNED_LOGINS = ['supabase'] as const
export type SignedLogin = (typeof SIGNED_LOGINS)[number]

/** Sealed, a few for each mode: a login may have one for each of its hooks, and two while one is replaced. */
export type HookSecretsOfApp = { [L in SignedLogin]?: { [M in Mode]?: string[] } }

/** The context that the sealed secret of a hook is bound to. */
export const hookSecretContext = (appId: string, login: SignedLogin, mode: Mode): string =>
  `hook:${appId}:${login}:${mode}`

/** The context that the sealed secret of a widget is bound to. */
export const challengeSecretContext = (appId: string): string => `challenge:${appId}`

export interface ApiKey extends Doc {
  app_id: string
  company_id: string
  kind: KeyKind
  mode: Mode
  hash: string
  /** For people, who tell keys apart by it. Absent or null: none. */
  name?: string | null
  /** The last four characters of the key's value. */
  last4: string
  created_at: number
  revoked_at: number | null
  /** The beginning of the minute in which the key was last accepted; absent before the first use. */
  last_used_at?: number
}

export interface Provider extends RevisedDoc {
  app_id: string
  name: string
  channel: Channel
  type: ProviderType
  /** Providers of an app are tried in this order. */
  position: number
  /** It is not used, but its receipts count. Absent: it is used. */
  paused?: boolean
  /** The countries whose numbers it serves. Absent or null: all of them. */
  countries?: string[] | null
  /** What the vendor charges for a message by country, in micro-units. Absent: unknown. */
  cost_micros?: ProviderCost
  /** Sealed JSON of the config as it was written. */
  config: string
}

export const scopeOf = ({ channel, paused = false, countries = null }: Provider): ProviderScope => ({
  channel,
  paused,
  countries,
})

export const providerId = (appId: string, name: string): string => `${appId}:${name}`

/** The context that a sealed config is bound to. */
export const providerContext = (id: string): string => `provider:${id}`

/** What is left of an app or a company that was deleted: what names it in the ledger and on statements. The id is that of the app or
 *  company. */
export interface DeletionDoc extends Doc {
  company_id: string
  name: string
  closed_at: number
  /** When its deletion was asked for. */
  asked_at: number
  /** When nothing else was left of it. */
  done_at: number
  /** Of a company: how far its ledger goes. */
  account?: Pick<Account, 'balance' | 'seq' | 'settled_seq'> & Pick<Company, 'timezone'>
}

export const TENANCY_COLLECTIONS = {
  companies: collection<Company>({
    belongsTo: [{ to: null, why: 'the owner of all others' }],
    indexes: [
      { fields: { deleted_at: 1 }, partial: { deleted_at: { $gt: 0 } }, scatter: SWEPT },
      { fields: { behind_at: 1 }, partial: { behind_at: { $gt: 0 } }, scatter: SWEPT },
      {
        fields: { low_balance_watch: 1, _id: 1 },
        partial: { low_balance_watch: 1 },
        scatter: { asker: 'sweeper', why: 'every ten seconds' },
      },
    ],
    // Few, but every paid send writes one of them.
    sharding: { key: { _id: 'hashed' }, byId: { asker: 'people', why: 'lists' } },
  }),
  apps: collection<App>({
    // Each is deleted before its company is (services/sweeper/deletions.ts).
    belongsTo: [{ to: 'companies', erasedWithOwner: true }],
    indexes: [
      { fields: { company_id: 1, _id: 1 } },
      { fields: { deleted_at: 1 }, partial: { deleted_at: { $gt: 0 } } },
      // Those whose owners are told of it.
      {
        fields: { 'pending_retention.effective_at': 1 },
        partial: { 'pending_retention.effective_at': { $gt: 0 } },
      },
    ],
  }),
  keys: collection<ApiKey>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [{ fields: { hash: 1 }, unique: true }, { fields: { app_id: 1, _id: 1 } }],
  }),
  providers: collection<Provider>({
    belongsTo: [{ to: 'apps', ofOwner: app_id => ({ app_id }) }],
    indexes: [{ fields: { app_id: 1, position: 1, _id: 1 } }],
  }),
  deletions: collection<DeletionDoc>({
    belongsTo: [{ to: null, why: 'it names in the ledger what is gone' }],
    indexes: [],
  }),
}

/** With the webhook endpoints, because tenancy.ts reads them too. */
export type TenancyStore = StoreOf<typeof TENANCY_COLLECTIONS & typeof WEBHOOK_COLLECTIONS>

/** Above MAX_PROVIDERS_PER_APP, because concurrent PUTs can exceed that. */
const MAX_STORED_PROVIDERS = 1_000

/** An app's providers in the order they are tried. */
export async function findProviders(store: StoreOf<typeof TENANCY_COLLECTIONS>, appId: string): Promise<Provider[]> {
  const sort = { position: 1, _id: 1 } as const
  const stored = await store.docs('providers').find({ app_id: appId }, { sort, limit: MAX_STORED_PROVIDERS })
  // A config is sealed for its id. One whose id is of another app was moved here by an intruder in the store, to get this app's messages.
  return stored.filter(({ _id, name }) => _id === providerId(appId, name))
}

/** Those that `providersOf` of tenancy.ts does not leave out for their type: a message goes through no other. */
export const findKnownProviders = async (
  store: StoreOf<typeof TENANCY_COLLECTIONS>,
  appId: string,
): Promise<Provider[]> => (await findProviders(store, appId)).filter(({ type }) => isProviderType(type))
