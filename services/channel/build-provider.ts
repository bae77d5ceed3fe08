// Builds a provider. In: an app's setup of it, with the config unsealed. Out: the provider, or null when this process has no factory for
// its type.
import type { Logger } from '../../infra/log/log.ts'
import type { ProviderType } from '../domain/tenancy/provider-types/list.ts'
import type { TenantProvider } from '../domain/tenancy/tenancy.ts'
import type { Provider, ProviderDeps } from './provider.ts'
import type { ProviderFactory } from './providers/factories.ts'

export type ProviderFactories = { readonly [T in ProviderType]?: ProviderFactory<T> }

export interface BuildProviderDeps {
  factories: ProviderFactories
  providerDeps: Omit<ProviderDeps, 'callbackUrl'>
  /** The setting `PUBLIC_URL`; null when it is not set. */
  publicUrl: string | null
  log: Logger
}

export type BuildProvider = (setup: TenantProvider) => Provider | null

export const createBuildProvider = ({ factories, providerDeps, publicUrl, log }: BuildProviderDeps): BuildProvider => {
  const buildProvider = <T extends ProviderType>(setup: Extract<TenantProvider, { type: T }>): Provider | null => {
    const { app_id, name, channel, type } = setup
    const factory: ProviderFactories[T] = factories[type as T]
    if (!factory) {
      log.warn({ app_id, channel, provider: name, type }, 'provider.not_built')
      return null
    }
    const callbackUrl = publicUrl === null ? null : `${publicUrl}/callbacks/${app_id}/${name}`
    return factory(setup, { ...providerDeps, callbackUrl })
  }
  return buildProvider
}
