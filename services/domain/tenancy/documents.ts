// What is stored about tenants: companies, their apps, and what belongs to an app. Times are epoch milliseconds, money micro-units.
// Provider configs and webhook secrets are sealed, each for its own document: moved into another one, they do not open.
import type { Doc, RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, type StoreOf } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import type { Account } from '../money/documents.ts'
import type { WEBHOOK_COLLECTIONS } from '../webhooks/documents.ts'
import type { ProviderType } from './providers.ts'
import type { SettingsInput } from './settings.ts'

export interface Company extends RevisedDoc, Account {
  name: string
  created_at: number
}

export interface App extends RevisedDoc {
  company_id: string
  name: string
  /** As they were written: defaults are resolved on reading. */
  settings: SettingsInput
  created_at: number
}

export interface ApiKey extends Doc {
  app_id: string
  company_id: string
  kind: KeyKind
  mode: Mode
  hash: string
  created_at: number
  revoked_at: number | null
}

export interface Provider extends RevisedDoc {
  app_id: string
  name: string
  channel: Channel
  type: ProviderType
  /** Providers of an app are tried in this order. */
  position: number
  /** Sealed JSON of the config as it was written. */
  config: string
}

export const providerId = (appId: string, name: string): string => `${appId}:${name}`
/** What a sealed value is bound to. */
export const providerContext = (id: string): string => `provider:${id}`

export const TENANCY_COLLECTIONS = {
  companies: collection<Company>({ indexes: [{ fields: { behind_at: 1 }, partial: { behind_at: { $gt: 0 } } }] }),
  apps: collection<App>({ indexes: [{ fields: { company_id: 1, _id: 1 } }] }),
  keys: collection<ApiKey>({ indexes: [{ fields: { hash: 1 }, unique: true }, { fields: { app_id: 1, _id: 1 } }] }),
  providers: collection<Provider>({ indexes: [{ fields: { app_id: 1, position: 1, _id: 1 } }] }),
}

/** An app's webhook is read with the app. */
export type TenancyStore = StoreOf<typeof TENANCY_COLLECTIONS & typeof WEBHOOK_COLLECTIONS>
