// Reads tenants for the services. In: an id or a key's hash. Out: the app, key, providers or webhook, with settings resolved and configs
// and secrets unsealed. Nothing is cached here: each service caches what it makes of it, for as long as
// `TENANT_CACHE` says.
// Configs and secrets that cannot be unsealed are left out, so that an app loses one provider and not all of them. A provider whose data
// key is missing is listed as `unreadable`: it works again once the key is configured again. A provider whose type this release does not
// know is left out as well: a newer release stored it, and was rolled back.

import type { Clock } from '../../../infra/clock.ts'
import { type Keyring, MissingKey, Unsealable } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Channel } from '../../../machines/channels.ts'
import { MODES, type Mode } from '../../../machines/otp.ts'
import type { ProviderCost, ProviderScope } from '../../../machines/routing.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import {
  findEndpoints,
  type WebhookEndpoint,
  type WebhookSecretState,
  webhookSecretContext,
} from '../webhooks/documents.ts'
import { appIdOf } from '../webhooks/endpoint-ids.ts'
import {
  type ApiKey,
  findProviders,
  hookSecretContext,
  isClosed,
  providerContext,
  type SignedLogin,
  scopeOf,
  type TenancyStore,
} from './documents.ts'
import { settingsAt } from './pending-retention.ts'
import { isProviderType } from './provider-types/list.ts'
import { resolveProvider, type TypedProviderConfig } from './providers.ts'
import { resolveSettings } from './settings.ts'

export interface TenantApp {
  id: string
  company_id: string
  name: string
  settings: AppSettings
  /** The secret of the widget of challenges; to be unsealed with `challengeSecretContext`. */
  sealed_challenge_secret: string | null
}

/** A union that `type` discriminates. */
export type TenantProvider = { app_id: string; name: string; cost_micros: ProviderCost } & ProviderScope &
  TypedProviderConfig

/** `life`: to be read with `endpointLife` of machines/endpoint.step.ts. */
export interface TenantWebhook
  extends Pick<WebhookEndpoint, '_id' | 'url' | 'status' | 'life' | 'retry_all_before' | 'events' | 'payload'> {
  app_id: string
  /** Some may have expired: `signingSecrets` of webhooks/secrets.ts selects those that sign at a given time. */
  secrets: { id: string; state: WebhookSecretState; secret: string; expires_at: number | null }[]
}

/** A provider that cannot be used while its data key is missing. */
export type UnreadableProvider = ProviderScope & { name: string; problem: MissingKey }

export interface AppProviders {
  /** In the order they are tried. */
  providers: TenantProvider[]
  unreadable: UnreadableProvider[]
}

export interface HookSecrets {
  company_id: string
  /** The secrets of both modes. */
  secrets: { mode: Mode; secret: string }[]
  /** The key of a secret that cannot be read now. */
  missingKey: MissingKey | null
}

export interface Tenancy {
  /** Null for a revoked key, and for a key of a closed app or company. */
  keyByHash(hash: string): Promise<ApiKey | null>
  app(id: string): Promise<TenantApp | null>
  /** The secrets of a login that calls an app. Null for an app that has none, is unknown or closed. */
  hookSecrets(appId: string, login: SignedLogin): Promise<HookSecrets | null>
  providersOf(appId: string, channel?: Channel): Promise<AppProviders>
  /** The oldest first. */
  webhooks(appId: string): Promise<TenantWebhook[]>
  /** Whether the company of an app is closed; see `Closable`. */
  isCompanyClosed(appId: string): Promise<boolean>
}

/** A changed app, provider or endpoint is known to every process after this time. */
export const TENANT_CACHE = { ttlMs: 5_000, maxSize: 10_000 }

export const createTenancy = ({
  store,
  keyring,
  clock,
  log,
}: {
  store: TenancyStore
  keyring: Pick<Keyring, 'unseal'>
  clock: Pick<Clock, 'now'>
  /** Given by the one reader of a process that tells operators of providers that are left out. */
  log?: Pick<Logger, 'warn'>
}): Tenancy => {
  const logged = new Set<string>()

  const isClosedCompany = async (id: string): Promise<boolean> =>
    isClosed((await store.docs('companies').get([id])).get(id))

  return {
    async keyByHash(hash) {
      const [key] = await store.docs('keys').find({ hash }, { sort: { hash: 1 }, limit: 1 })
      if (!key || key.revoked_at !== null) return null
      const { app_id, company_id } = key
      const [apps, companyIsClosed] = await Promise.all([store.docs('apps').get([app_id]), isClosedCompany(company_id)])
      return isClosed(apps.get(app_id)) || companyIsClosed ? null : key
    },

    async app(id) {
      const stored = (await store.docs('apps').get([id])).get(id)
      if (!stored) return null
      const { company_id, name, challenge_secret = null } = stored
      const settings = resolveSettings(settingsAt(stored, clock.now()))
      return { id, company_id, name, settings, sealed_challenge_secret: challenge_secret }
    },

    async hookSecrets(appId, login) {
      const app = (await store.docs('apps').get([appId])).get(appId)
      const stored = app?.hook_secrets?.[login]
      if (!app || !stored || isClosed(app)) return null
      const { company_id } = app
      if (await isClosedCompany(company_id)) return null
      const found: HookSecrets = { company_id, secrets: [], missingKey: null }
      for (const mode of MODES)
        for (const sealed of stored[mode] ?? [])
          try {
            found.secrets.push({ mode, secret: keyring.unseal(sealed, hookSecretContext(appId, login, mode)) })
          } catch (error) {
            if (!(error instanceof Unsealable)) throw error
            if (error instanceof MissingKey) found.missingKey = error
          }
      return found
    },

    async providersOf(appId, channel) {
      const stored = await findProviders(store, appId)
      const result: AppProviders = { providers: [], unreadable: [] }
      for (const provider of stored) {
        const { _id, app_id, name, type, cost_micros = {}, config } = provider
        if (channel !== undefined && provider.channel !== channel) continue
        if (!isProviderType(type)) {
          if (!logged.has(_id)) log?.warn({ app_id, provider: name, provider_type: type }, 'provider.type_unknown')
          logged.add(_id)
          continue
        }
        try {
          const written: unknown = JSON.parse(keyring.unseal(config, providerContext(_id)))
          result.providers.push({ app_id, name, cost_micros, ...scopeOf(provider), ...resolveProvider(type, written) })
        } catch (error) {
          if (!(error instanceof Unsealable)) throw error
          if (error instanceof MissingKey) result.unreadable.push({ name, ...scopeOf(provider), problem: error })
        }
      }
      return result
    },

    async isCompanyClosed(appId) {
      const app = (await store.docs('apps').get([appId])).get(appId)
      return app !== undefined && isClosedCompany(app.company_id)
    },

    async webhooks(appId) {
      const stored = await findEndpoints(store.docs('webhooks'), appId)
      return stored.map(({ secrets, rev, slot, name, drain_at, deleted_at, ...endpoint }) => ({
        ...endpoint,
        app_id: appIdOf(endpoint),
        secrets: secrets.flatMap(({ id, state, sealed, expires_at }) => {
          const secret = unsealOrNull(keyring, sealed, webhookSecretContext(endpoint._id, id))
          return secret === null ? [] : [{ id, state, secret, expires_at }]
        }),
      }))
    },
  }
}
