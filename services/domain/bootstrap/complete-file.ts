// In: a bootstrap file that keeps the schema and the rules. Out: the same file with every member present, null where the file has none.
import type { Channel } from '../../../machines/channels.ts'
import type { KeyKind, Mode } from '../../../machines/otp.ts'
import type { ProviderCost } from '../../../machines/routing.ts'
import { canonicalCidr } from '../address-lists/cidr.ts'
import type { AddressClass } from '../address-lists/documents.ts'
import type { Price } from '../money/prices.ts'
import { kindAndModeOf } from '../tenancy/api-keys.ts'
import type { ProviderType } from '../tenancy/provider-types/list.ts'
import { soleChannel } from '../tenancy/providers.ts'
import type { SettingsInput } from '../tenancy/settings.ts'
import type { BootstrapFile } from './file-schema.ts'

export interface BootstrapKey {
  id: string
  kind: KeyKind
  mode: Mode
  name: string | null
  /** Null: a value is made when the file is applied. */
  key: string | null
}

export interface BootstrapProvider {
  name: string
  channel: Channel
  type: ProviderType
  /** Undefined: as stored. */
  countries: string[] | null | undefined
  /** Undefined: as stored. */
  cost_micros: ProviderCost | undefined
  config: unknown
}

export interface BootstrapWebhook {
  url: string
  secret: string | null
}

export interface BootstrapApp {
  id: string
  name: string | null
  settings: SettingsInput | null
  keys: BootstrapKey[]
  webhook: BootstrapWebhook | null
  /** The secrets of the modes that the file names. */
  supabase: { [M in Mode]?: string[] | undefined }
  providers: BootstrapProvider[] | null
}

export interface BootstrapCompany {
  id: string
  name: string | null
  balance: number
  /** Null removes it; undefined: as stored. */
  low_balance_micros: number | null | undefined
  apps: BootstrapApp[]
}

export interface BootstrapRange {
  class: AddressClass
  /** In canonical form. */
  cidr: string
}

export interface Bootstrap {
  companies: BootstrapCompany[]
  prices: Price[] | null
  ip_lists: BootstrapRange[] | null
}

type RawCompany = NonNullable<BootstrapFile['companies']>[number]
type RawApp = NonNullable<RawCompany['apps']>[number]
type RawKey = NonNullable<RawApp['keys']>[number]
type RawProvider = NonNullable<RawApp['providers']>[number]
type RawRange = NonNullable<BootstrapFile['ip_lists']>[number]

export const completeBootstrap = (file: BootstrapFile): Bootstrap => ({
  companies: (file.companies ?? []).map(({ id, name, balance, low_balance_micros, apps }) => ({
    id,
    name: name ?? null,
    balance: balance ?? 0,
    low_balance_micros,
    apps: (apps ?? []).map(completeApp),
  })),
  prices: file.prices ?? null,
  ip_lists: file.ip_lists ? distinct(file.ip_lists.map(completeRange)) : null,
})

const completeApp = ({ id, name, settings, keys, webhook, hooks, providers }: RawApp): BootstrapApp => ({
  id,
  name: name ?? null,
  settings: settings ?? null,
  keys: (keys ?? []).map(completeKey),
  webhook: webhook ? { url: webhook.url, secret: webhook.secret ?? null } : null,
  supabase: { live: hooks?.supabase?.live, test: hooks?.supabase?.test },
  providers: providers?.map(completeProvider) ?? null,
})

const completeKey = (raw: RawKey): BootstrapKey => ({
  id: raw.id,
  kind: required(raw.kind ?? kindAndModeOf(raw.key).kind),
  mode: required(raw.mode ?? kindAndModeOf(raw.key).mode),
  name: raw.name ?? null,
  key: raw.key ?? null,
})

const completeProvider = ({ name, type, channel, countries, cost_micros, config }: RawProvider): BootstrapProvider => ({
  name,
  type,
  channel: required(channel ?? soleChannel(type)),
  countries,
  cost_micros,
  config: config === undefined ? {} : config,
})

const completeRange = (raw: RawRange): BootstrapRange => ({
  class: raw.class,
  cidr: required(canonicalCidr(raw.cidr)),
})

/** For members that are optional in the schema and that file-rules.ts requires. */
function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('a bootstrap file that breaks a rule cannot be completed')
  return value
}

const distinct = (ranges: BootstrapRange[]): BootstrapRange[] => [
  ...new Map(ranges.map(range => [`${range.class}:${range.cidr}`, range])).values(),
]
