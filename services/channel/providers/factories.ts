// Builds a provider from its adapter. In: an app's setup of it, with the config unsealed. Out: the provider.
// docs/adding-a-provider.md lists the steps to a new adapter.

import { patternOfSecrets, type SecretPattern } from '../../domain/privacy/answer-scrub.ts'
import { secretsIn } from '../../domain/tenancy/provider-secrets.ts'
import type { ProviderType } from '../../domain/tenancy/provider-types/list.ts'
import type { TenantProvider } from '../../domain/tenancy/tenancy.ts'
import type { Provider, ProviderDeps } from '../provider.ts'
import { createHttpProvider } from './http.ts'
import { createInfobipProvider } from './infobip.ts'
import { createPostmarkProvider } from './postmark.ts'
import { createSesProvider } from './ses.ts'
import { createSmtpProvider } from './smtp.ts'
import { createTelegramProvider } from './telegram_gateway.ts'
import { createTelnyxProvider } from './telnyx.ts'
import { createTwilioProvider } from './twilio.ts'
import { createVonageProvider } from './vonage.ts'
import { createWhatsappProvider } from './whatsapp_cloud.ts'

/** The sandbox is no vendor: it needs no config and exists once for all apps. */
type VendorType = Exclude<ProviderType, 'sandbox'>
type VendorSetup<T extends VendorType> = Extract<TenantProvider, { type: T }>

/** Called once, and again after the config has changed. Must not throw: one wrong config would disable the app's other providers. A
 *  provider whose config cannot work throws `ProviderFault` when it sends. */
type ProviderFactory<T extends VendorType> = (setup: VendorSetup<T>, deps: ProviderDeps) => Provider

export type ProviderFactories = { readonly [T in VendorType]: ProviderFactory<T> }

export const PROVIDER_FACTORIES: ProviderFactories = {
  twilio: createTwilioProvider,
  vonage: createVonageProvider,
  telnyx: createTelnyxProvider,
  infobip: createInfobipProvider,
  ses: createSesProvider,
  postmark: createPostmarkProvider,
  http: createHttpProvider,
  whatsapp_cloud: createWhatsappProvider,
  telegram_gateway: createTelegramProvider,
  smtp: createSmtpProvider,
}

export interface BuiltProvider {
  /** The name that the app gave the provider. */
  name: string
  type: ProviderType
  provider: Provider
  secrets: SecretPattern
}

export interface BuildProviderDeps {
  factories: ProviderFactories
  providerDeps: Omit<ProviderDeps, 'callbackUrl'>
  /** The setting `PUBLIC_URL`; null when it is not set. */
  publicUrl: string | null
}

export type BuildProvider = (setup: VendorSetup<VendorType>) => BuiltProvider

export function createBuildProvider({ factories, providerDeps, publicUrl }: BuildProviderDeps): BuildProvider {
  const create = <T extends VendorType>(type: T, setup: VendorSetup<T>, deps: ProviderDeps): Provider =>
    factories[type](setup, deps)

  return setup => {
    const { app_id, name, type, config } = setup
    const callbackUrl = publicUrl === null ? null : `${publicUrl}/callbacks/${app_id}/${name}`
    const provider = create(type, setup, { ...providerDeps, callbackUrl })
    return { name, type, provider, secrets: patternOfSecrets(secretsIn(type, config)) }
  }
}
