// Renders the message of a delivery. In: a delivery job. Out: text, recipient and code in the clear. It runs right before the provider is
// called, so that the code is in the clear for no longer than the call.
import type { Cache } from '../../infra/cache.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { chooseLocale } from '../../machines/locale.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { LANGUAGES } from '../domain/texts/message-text.ts'
import { renderContent } from '../domain/verifications/message-content.ts'
import type { DeliveryJob, RenderedMessage } from './provider.ts'

export interface RenderDeps {
  apps: Pick<Cache<TenantApp | null>, 'get'>
  keyring: Pick<Keyring, 'unseal' | 'code'>
}

export const createRender =
  ({ apps, keyring }: RenderDeps) =>
  async (job: DeliveryJob): Promise<RenderedMessage> => {
    const { otp, delivery } = job
    const app = await apps.get(otp.app_id)
    if (!app) throw new Error(`the app of a verification is gone: ${otp.app_id}`)
    const locale = chooseLocale(otp.locale, app.settings.locale, LANGUAGES)
    return { job, locale, ...renderContent(keyring, { otp, delivery, app, locale }) }
  }
