// Reads tenants for the services: settings resolved, configs and secrets opened. Nothing is kept: caches are their users'.
// What was sealed with a key that is gone is left out: an app loses a provider by it, not all of them. Which ones is said
// beside: they are there, and will do again once the key is back.

import { type Keyring, MissingKey, Unsealable } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { SavedEndpoint } from '../../../machines/endpoint.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { type WebhookEndpoint, type WebhookSecretState, webhookSecretContext } from '../webhooks/documents.ts'
import { type ApiKey, providerContext, type TenancyStore } from './documents.ts'
import { resolveProvider, type TypedProviderConfig } from './providers.ts'
import { resolveSettings } from './settings.ts'

export interface TenantApp {
  id: string
  company_id: string
  name: string
  settings: AppSettings
}

/** `type` tells which config it has. */
export type TenantProvider = { app_id: string; name: string; channel: Channel } & TypedProviderConfig

export interface TenantWebhook {
  app_id: string
  url: string
  status: WebhookEndpoint['status']
  /** Read it with `endpointLife` of machines/endpoint.step.ts. */
  life?: SavedEndpoint
  /** Which of them sign at a given moment: `signing` of webhook.secrets.ts. */
  secrets: { id: string; state: WebhookSecretState; secret: string; expires_at: number | null }[]
}

/** There, and not to be used while its key is missing. */
export type UnreadableProvider = Pick<TenantProvider, 'name' | 'channel'> & { problem: MissingKey }

export interface AppProviders {
  /** In the order they are to be tried. */
  providers: TenantProvider[]
  unreadable: UnreadableProvider[]
}

export interface Tenancy {
  /** A revoked key is no key. */
  keyByHash(hash: string): Promise<ApiKey | null>
  app(id: string): Promise<TenantApp | null>
  providersOf(appId: string, channel?: Channel): Promise<AppProviders>
  webhook(appId: string): Promise<TenantWebhook | null>
}

const MAX_PROVIDERS = 1_000

export const createTenancy = ({
  store,
  keyring,
}: {
  store: TenancyStore
  keyring: Pick<Keyring, 'unseal'>
}): Tenancy => ({
  async keyByHash(hash) {
    const [key] = await store.docs('keys').find({ hash }, { sort: { hash: 1 }, limit: 1 })
    return key && key.revoked_at === null ? key : null
  },

  async app(id) {
    const stored = (await store.docs('apps').get([id])).get(id)
    if (!stored) return null
    const { company_id, name, settings } = stored
    return { id, company_id, name, settings: resolveSettings(settings) }
  },

  async providersOf(appId, channel) {
    const page = { sort: { position: 1, _id: 1 }, limit: MAX_PROVIDERS } as const
    const stored = await store.docs('providers').find({ app_id: appId }, page)
    const setups: AppProviders = { providers: [], unreadable: [] }
    for (const { _id, app_id, name, channel: providerChannel, type, config } of stored) {
      if (channel !== undefined && providerChannel !== channel) continue
      try {
        const written: unknown = JSON.parse(keyring.unseal(config, providerContext(_id)))
        setups.providers.push({ app_id, name, channel: providerChannel, ...resolveProvider(type, written) })
      } catch (error) {
        if (!(error instanceof Unsealable)) throw error
        if (error instanceof MissingKey) setups.unreadable.push({ name, channel: providerChannel, problem: error })
      }
    }
    return setups
  },

  async webhook(appId) {
    const stored = (await store.docs('webhooks').get([appId])).get(appId)
    if (!stored) return null
    const secrets = stored.secrets.flatMap(({ id, state, sealed, expires_at }) => {
      const secret = unsealOrNull(keyring, sealed, webhookSecretContext(appId, id))
      return secret === null ? [] : [{ id, state, secret, expires_at }]
    })
    const { url, status, life } = stored
    return { app_id: appId, url, status, secrets, ...(life ? { life } : {}) }
  },
})
