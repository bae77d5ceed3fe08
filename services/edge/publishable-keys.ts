// What a publishable key may do. It is used on a device, which can lie, so the app's settings decide from which pages and for what it may be
// used.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { httpException } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { problem } from '../domain/errors.ts'
import { TENANT_CACHE, type Tenancy } from '../domain/tenancy/tenancy.ts'

export interface PublishableKeyRules {
  /** An app that lists origins accepts its publishable keys from no other page. A request without an origin is not from a page. */
  allowsOrigin(by: Identity, origin: string): Promise<boolean>
  /** Live sends and resends cost money, and anyone can read a publishable key, so the app must have allowed them. */
  checkSend(by: Identity): Promise<void>
}

export interface PublishableKeyDeps {
  tenancy: Pick<Tenancy, 'app'>
  clock: Pick<Clock, 'now'>
}

export function createPublishableKeyRules({ tenancy, clock }: PublishableKeyDeps): PublishableKeyRules {
  const apps = createCache(id => tenancy.app(id), { ...TENANT_CACHE, clock })
  const settingsOf = async ({ app_id }: Identity): Promise<AppSettings> => {
    const app = await apps.get(app_id)
    if (app === null) throw httpException(401, 'The app of this API key is gone.', { 'WWW-Authenticate': 'Bearer' })
    return app.settings
  }
  return {
    async allowsOrigin(by, origin) {
      if (origin === '') return true
      const { allowed_origins } = await settingsOf(by)
      return allowed_origins.length === 0 || allowed_origins.includes(origin)
    },
    async checkSend(by) {
      if (by.mode === 'test' || (await settingsOf(by)).publishable_send) return
      throw problem('PublishableSendDisabledError', {
        detail: 'The app does not let publishable keys send or resend in live mode.',
      })
    },
  }
}
