// A provider from an app's setup of it. In: the setup as it is stored, its config opened. Out: the provider, or null where its type is
// not built.
import type { Logger } from '../../infra/log/log.ts'
import type { ProviderType } from '../domain/tenancy/providers.ts'
import type { TenantProvider } from '../domain/tenancy/tenancy.ts'
import type { Provider, Tools } from './provider.ts'
import type { Maker } from './providers/makers.ts'

export type Makers = { readonly [T in ProviderType]?: Maker<T> }

export interface BuildParts {
  makers: Makers
  tools: Omit<Tools, 'callbackUrl'>
  /** `PUBLIC_URL`, where there is one. */
  publicUrl: string | null
  log: Logger
}

export type Build = (setup: TenantProvider) => Provider | null

export const building = ({ makers, tools, publicUrl, log }: BuildParts): Build => {
  const make = <T extends ProviderType>(setup: Extract<TenantProvider, { type: T }>): Provider | null => {
    const { app_id, name, channel, type } = setup
    const maker: Makers[T] = makers[type as T]
    if (!maker) {
      log.warn({ app_id, channel, provider: name, type }, 'provider.not_built')
      return null
    }
    const callbackUrl = publicUrl === null ? null : `${publicUrl}/callbacks/${app_id}/${name}`
    return maker(setup, { ...tools, callbackUrl })
  }
  return make
}
