// Reads tenants for the services: settings resolved, configs and secrets opened. Nothing is kept: caches are their users'.
// What was sealed with a key that is gone is left out: an app loses a provider by it, not all of them.
import type { Channel } from '../../machines/channels.ts'
import type { SavedEndpoint } from '../../machines/endpoint.ts'
import type { AppSettings } from '../../machines/settings.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { openedOrNull } from '../crypto/opened.ts'
import type { CountersignStore } from '../store/collections.ts'
import {
  type ApiKey,
  providerContext,
  type WebhookEndpoint,
  type WebhookSecretState,
  webhookSecretContext,
} from './documents.ts'
import { type ProviderSetup, resolveProvider } from './providers.ts'
import { resolveSettings } from './settings.ts'

export interface TenantApp {
  id: string
  company_id: string
  name: string
  settings: AppSettings
}

/** `type` tells which config it has. */
export type TenantProvider = { app_id: string; name: string; channel: Channel } & ProviderSetup

export interface TenantWebhook {
  app_id: string
  url: string
  status: WebhookEndpoint['status']
  /** Read it with `endpointLife` of machines/endpoint.step.ts. */
  life?: SavedEndpoint
  /** Which of them sign at a given moment: `signing` of webhook.secrets.ts. */
  secrets: { id: string; state: WebhookSecretState; secret: string; expires_at: number | null }[]
}

export interface Tenancy {
  /** A revoked key is no key. */
  keyByHash(hash: string): Promise<ApiKey | null>
  app(id: string): Promise<TenantApp | null>
  /** In the order they are to be tried. */
  providers(appId: string, channel?: Channel): Promise<TenantProvider[]>
  webhook(appId: string): Promise<TenantWebhook | null>
}

const MOST_PROVIDERS = 1_000

export const tenancy = ({
  store,
  keyring,
}: {
  store: CountersignStore
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

  async providers(appId, channel) {
    const page = { sort: { position: 1, _id: 1 }, limit: MOST_PROVIDERS } as const
    const stored = await store.docs('providers').find({ app_id: appId }, page)
    return stored
      .filter(provider => channel === undefined || provider.channel === channel)
      .flatMap(({ _id, app_id, name, channel, type, config }) => {
        const opened = openedOrNull(keyring, config, providerContext(_id))
        if (opened === null) return []
        const written: unknown = JSON.parse(opened)
        return [{ app_id, name, channel, ...resolveProvider(type, written) }]
      })
  },

  async webhook(appId) {
    const stored = (await store.docs('webhooks').get([appId])).get(appId)
    if (!stored) return null
    const secrets = stored.secrets.flatMap(({ id, state, sealed, expires_at }) => {
      const secret = openedOrNull(keyring, sealed, webhookSecretContext(appId, id))
      return secret === null ? [] : [{ id, state, secret, expires_at }]
    })
    const { url, status, life } = stored
    return { app_id: appId, url, status, secrets, ...(life ? { life } : {}) }
  },
})
