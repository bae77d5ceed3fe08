// What is stored about tenants: companies, their apps, and what belongs to an app. Times are epoch milliseconds, money micro-units.
// Provider configs and webhook secrets are sealed, each for its own document: moved into another one, they do not open.

import type { Doc, Revised } from '../../../infra/store/docs.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { SavedEndpoint } from '../../../machines/endpoint.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import type { Account } from '../money/documents.ts'
import type { ProviderType } from './providers.ts'
import type { GivenSettings } from './settings.ts'

export interface Company extends Revised, Account {
  name: string
  created_at: number
}

export interface App extends Revised {
  company_id: string
  name: string
  /** As they were written: defaults are resolved on reading. */
  settings: GivenSettings
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

/** `current` signs both headers. `next` was created and awaits promotion, `old` was replaced: they sign the list header only. */
export type WebhookSecretState = 'current' | 'next' | 'old'

export interface WebhookSecret {
  id: string
  state: WebhookSecretState
  sealed: string
  created_at: number
  /** When an old one stops signing; null for the others. */
  expires_at: number | null
}

/** Its `_id` is the app's. Exactly one of its secrets is current, at most one is next. */
export interface WebhookEndpoint extends Revised {
  url: string
  /** As the admin API shows it: a failing one is active. */
  status: 'active' | 'paused'
  secrets: WebhookSecret[]
  /** Its machine; absent until it is first called: `endpointLife` of machines/endpoint.step.ts. */
  life?: SavedEndpoint
  /** When the sweeper should have its backlog looked at; absent while there is none. */
  drain_at?: number
}

export interface Provider extends Revised {
  app_id: string
  name: string
  channel: Channel
  type: ProviderType
  /** Providers of an app are tried in this order. */
  position: number
  /** Sealed JSON of the config as it was written. */
  config: string
}

export interface Price extends Doc {
  channel: Channel
  /** ISO 3166-1 alpha-2, or `*`: every country without a price of its own. */
  country: string
  micros: number
}

export type IpClass = 'abusive' | 'vpn' | 'proxy' | 'tor' | 'datacenter'

export interface IpRange extends Doc {
  class: IpClass
  /** The canonical form of the network's address, and its bits. */
  cidr: string
}

export const providerId = (appId: string, name: string): string => `${appId}:${name}`
export const priceId = (channel: Channel, country: string): string => `${channel}:${country}`
export const ipRangeId = (range: Pick<IpRange, 'class' | 'cidr'>): string => `${range.class}:${range.cidr}`

/** What a sealed value is bound to. */
export const providerContext = (id: string): string => `provider:${id}`
export const webhookSecretContext = (appId: string, secretId: string): string => `webhook:${appId}:${secretId}`
