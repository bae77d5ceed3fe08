// A delivery in words, at the last moment before a provider is called: the code is in the clear from here to the provider only.
import type { Cache } from '../../infra/cache.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { chooseLocale } from '../../machines/locale.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { LANGUAGES } from '../domain/texts/texts.ts'
import { contentOf } from '../domain/verifications/rendering.ts'
import type { Errand, Rendered } from './provider.ts'

export interface RenderParts {
  apps: Pick<Cache<TenantApp | null>, 'get'>
  keyring: Pick<Keyring, 'unseal' | 'code'>
}

export const rendering =
  ({ apps, keyring }: RenderParts) =>
  async (errand: Errand): Promise<Rendered> => {
    const { otp, delivery } = errand
    const app = await apps.get(otp.app_id)
    if (!app) throw new Error(`the app of a verification is gone: ${otp.app_id}`)
    const locale = chooseLocale(otp.locale, app.settings.locale, LANGUAGES)
    return { errand, locale, ...contentOf(keyring, { otp, delivery, app, locale }) }
  }
