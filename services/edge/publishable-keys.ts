// What a publishable key may do. It is used on a device, which can lie, so the app's settings decide from which pages
// and for what it may be used.
import { createCache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import { httpException } from '../../infra/http/problem.ts'
import type { Identity, OtpCall } from '../../machines/calls.ts'
import { parseSolution } from '../../machines/challenge.ts'
import type { AppSettings } from '../../machines/settings.ts'
import { problem } from '../domain/errors.ts'
import { TENANT_CACHE, type Tenancy, type TenantApp } from '../domain/tenancy/tenancy.ts'
import type { CheckToken } from './challenge-tokens.ts'

export interface PublishableKeyRules {
  /** An app that lists origins accepts its publishable keys from no other page. A request without an origin is not from a page. */
  allowsOrigin(by: Identity, origin: string): Promise<boolean>
  /** Live sends and resends cost money, and anyone can read a publishable key, so the app must have allowed them. */
  checkSend(by: Identity): Promise<void>
  /** The call, with the token of a widget checked where the app has one and the call brings a token. */
  withCheckedToken(call: OtpCall, address: string | null): Promise<OtpCall>
}

export interface PublishableKeyDeps {
  tenancy: Pick<Tenancy, 'app'>
  clock: Pick<Clock, 'now'>
  checkToken: CheckToken
}

export function createPublishableKeyRules({ tenancy, clock, checkToken }: PublishableKeyDeps): PublishableKeyRules {
  const apps = createCache(id => tenancy.app(id), { ...TENANT_CACHE, clock })
  const appOf = async ({ app_id }: Identity): Promise<TenantApp> => {
    const app = await apps.get(app_id)
    if (app === null) throw httpException(401, 'The app of this API key is gone.', { 'WWW-Authenticate': 'Bearer' })
    return app
  }
  const settingsOf = async (by: Identity): Promise<AppSettings> => (await appOf(by)).settings
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
    async withCheckedToken(call, address) {
      if (!('challenge_solution' in call) || call.challenge_solution === undefined) return call
      const { challenge_solution: token, ...rest } = call
      const app = await appOf(call.by)
      const { challenge, publishable_challenge } = app.settings
      // Where the vendor was silent, the device has solved a proof of work.
      if (challenge.by === 'pow' || parseSolution(token) !== null) return call
      const isAsked =
        publishable_challenge === 'always' || (publishable_challenge === 'risk' && call.by.mode === 'live')
      return isAsked ? { ...rest, challenge_token: await checkToken(app, challenge.by, token, address) } : rest
    },
  }
}
