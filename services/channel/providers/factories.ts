// Every type of provider that is built, and how one is made of an app's config. A new provider is a file beside this one and a line here.
import type { ProviderType } from '../../domain/tenancy/providers.ts'
import type { TenantProvider } from '../../domain/tenancy/tenancy.ts'
import type { Provider, ProviderDeps } from '../provider.ts'
import { createHttpProvider } from './http.ts'
import { createSmtpProvider } from './smtp.ts'
import { createTelegramProvider } from './telegram_gateway.ts'
import { createTwilioProvider } from './twilio.ts'
import { createVonageProvider } from './vonage.ts'
import { createWhatsappProvider } from './whatsapp_cloud.ts'

/** Made once and kept while the config stays. It never throws: a config that cannot work shows when it is used. */
export type ProviderFactory<T extends ProviderType> = (
  setup: Extract<TenantProvider, { type: T }>,
  tools: ProviderDeps,
) => Provider

/** The sandbox is not among them: it is the one provider that is made without an app. */
export const PROVIDER_FACTORIES: { readonly [T in ProviderType]?: ProviderFactory<T> } = {
  twilio: createTwilioProvider,
  vonage: createVonageProvider,
  http: createHttpProvider,
  whatsapp_cloud: createWhatsappProvider,
  telegram_gateway: createTelegramProvider,
  smtp: createSmtpProvider,
}
