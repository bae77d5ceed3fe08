// The apps as the OTP actor needs them, cached for a few seconds. In: an app's id. Out: its settings, the channels it
// can use, and whether any of its endpoints asks for a type of event.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Docs } from '../../infra/store/docs.ts'
import type { Mode } from '../../machines/otp.ts'
import { type ProviderScope, SANDBOX_SCOPES } from '../../machines/routing.ts'
import type { WebhookEventType } from '../../machines/webhook-events.ts'
import { CONSOLE_APP_ID, withConsoleRules } from '../domain/tenancy/console.ts'
import { TENANT_CACHE, type Tenancy, type TenantApp, type UnreadableProvider } from '../domain/tenancy/tenancy.ts'
import { asksFor, findEndpoints, type WebhookEndpoint } from '../domain/webhooks/documents.ts'

export interface CachedApp extends TenantApp {
  /** See `Closable` of domain/tenancy/documents.ts. */
  companyClosed: boolean
  /** Where its providers may be used; in test mode the sandbox serves every channel. */
  providers(mode: Mode): readonly ProviderScope[]
  /** Live providers that cannot be used now, because the data key that unseals their credentials is missing. */
  unreadable: readonly UnreadableProvider[]
  /** By name, what each live provider is. */
  providerTypes: ReadonlyMap<string, string>
}

export interface AppCacheDeps {
  tenancy: Pick<Tenancy, 'app' | 'isCompanyClosed' | 'providersOf'>
  clock: Clock
}

export function createAppCache({ tenancy, clock }: AppCacheDeps) {
  const load = async (id: string): Promise<CachedApp | null> => {
    const [app, companyClosed, { providers, unreadable }] = await Promise.all([
      tenancy.app(id),
      tenancy.isCompanyClosed(id),
      tenancy.providersOf(id),
    ])
    if (!app) return null
    const live = providers.map(({ channel, paused, countries }) => ({ channel, paused, countries }))
    return {
      ...app,
      companyClosed,
      settings: id === CONSOLE_APP_ID ? withConsoleRules(app.settings) : app.settings,
      providers: mode => (mode === 'test' ? SANDBOX_SCOPES : live),
      unreadable,
      providerTypes: new Map(providers.map(({ name, type }) => [name, type])),
    }
  }
  return createCache(load, { ...TENANT_CACHE, clock })
}

export type IsAskedFor = (app_id: string, type: WebhookEventType) => Promise<boolean>

export function createIsAskedFor(webhooks: Pick<Docs<WebhookEndpoint>, 'get' | 'find'>, clock: Clock): IsAskedFor {
  const endpoints = createCache((app_id: string) => findEndpoints(webhooks, app_id), { ...TENANT_CACHE, clock })
  return async (app_id, type) => (await endpoints.get(app_id)).some(endpoint => asksFor(endpoint, type))
}
