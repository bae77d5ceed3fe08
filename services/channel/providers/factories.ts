// The adapters of the provider types. In: an app's config. Out: a provider. docs/adding-a-provider.md lists the steps to a new one.
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

/** Called once, and again after the config has changed. Must not throw: one wrong config would disable the app's other providers. A
 *  provider whose config cannot work throws `ProviderFault` when it sends. */
export type ProviderFactory<T extends ProviderType> = (
  setup: Extract<TenantProvider, { type: T }>,
  deps: ProviderDeps,
) => Provider

/** The sandbox is missing here, because it needs no config and exists once for all apps. */
export const PROVIDER_FACTORIES: { readonly [T in Exclude<ProviderType, 'sandbox'>]: ProviderFactory<T> } = {
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
