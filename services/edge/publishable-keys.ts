// What a publishable key may do. It runs on a device that may lie, so the app's settings decide where and for what it serves.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { httpException } from '../../infra/http/problem.ts'
import type { Identity } from '../../machines/calls.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { problem } from '../domain/errors.ts'
import type { Tenancy } from '../domain/tenancy/tenancy.ts'

export interface DeviceRules {
  /** An app that lists origins takes its publishable keys from no other page. What sends no origin is no page. */
  allowsOrigin(by: Identity, origin: string): Promise<boolean>
  /** Live sends cost money, and a key anyone can read invites toll fraud: the app must have allowed them. */
  checkSend(by: Identity): Promise<void>
}

const APP_CACHE_MS = 3_000
const MAX_CACHED_APPS = 10_000

export function createDeviceRules(parts: { tenancy: Pick<Tenancy, 'app'>; clock: Pick<Clock, 'now'> }): DeviceRules {
  const apps = createCache(id => parts.tenancy.app(id), {
    ttlMs: APP_CACHE_MS,
    maxSize: MAX_CACHED_APPS,
    clock: parts.clock,
  })
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
        detail: 'The app does not let publishable keys send in live mode.',
      })
    },
  }
}
