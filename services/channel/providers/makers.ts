// Every type of provider that is built, and how one is made of an app's config. A new provider is a file beside this one and a line here.
import type { ProviderType } from '../../domain/tenancy/providers.ts'
import type { TenantProvider } from '../../domain/tenancy/tenancy.ts'
import type { Provider, Tools } from '../provider.ts'
import { http } from './http.ts'
import { smtp } from './smtp.ts'
import { telegramGateway } from './telegram_gateway.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'
import { whatsappCloud } from './whatsapp_cloud.ts'

/** Made once and kept while the config stays. It never throws: a config that cannot work shows when it is used. */
export type Maker<T extends ProviderType> = (setup: Extract<TenantProvider, { type: T }>, tools: Tools) => Provider

/** The sandbox is not among them: it is the one provider that is made without an app. */
export const MAKERS: { readonly [T in ProviderType]?: Maker<T> } = {
  twilio,
  vonage,
  http,
  whatsapp_cloud: whatsappCloud,
  telegram_gateway: telegramGateway,
  smtp,
}
