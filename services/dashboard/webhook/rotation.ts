// POST /apps/{id}/webhook/rotate|promote. A new secret first signs beside the current one, so that a receiver can learn it in its own
// time, then takes its place; or takes it at once.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import type { WebhookEndpoint, WebhookSecret } from '../../domain/webhooks/documents.ts'
import { newWebhookSecret, sealedSecret } from '../../domain/webhooks/minting.ts'
import { withCurrent, withNext } from '../../domain/webhooks/secrets.ts'
import type { Resource } from '../admin.ts'
import { found, nothing } from '../requests.ts'
import { recordedEndpoint, shownEndpoint } from './shown.ts'
import { WHAT } from './webhook.ts'

const rotation = z.strictObject({ immediate: z.boolean().default(false) }).optional()

export const webhookRotation: Resource = (router, { store, keyring, clock, body, audited }) => {
  const [docs, apps] = [store.docs('webhooks'), store.docs('apps')]

  /** Replaces the list of secrets; answers the endpoint as it then is. */
  async function change(
    ctx: { params: Record<string, string | undefined>; state: { who?: unknown } },
    action: string,
    secretsOf: (endpoint: WebhookEndpoint, now: number) => WebhookSecret[],
  ): Promise<WebhookEndpoint> {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    return audited(ctx, async () => {
      const stored = await found(docs, app_id, WHAT)
      const secrets = secretsOf(stored, clock.now())
      const endpoint = { ...stored, secrets, rev: stored.rev + 1 }
      return {
        ...{ action, target: app_id, company_id },
        ...{ before: recordedEndpoint(keyring, stored), after: recordedEndpoint(keyring, endpoint) },
        perform: async () =>
          (await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { secrets } } }]))[0] === 'won'
            ? endpoint
            : null,
      }
    })
  }

  router.post('/apps/:id/webhook/rotate', async ctx => {
    const { immediate = false } = (await body(ctx, rotation)) ?? {}
    const value = newWebhookSecret()
    const endpoint = await change(ctx, immediate ? 'webhook.rotate_now' : 'webhook.rotate', ({ _id, secrets }, now) => {
      const made = sealedSecret(keyring, value, { app_id: _id, state: 'next', now })
      if (!immediate) return withNext(secrets, made, now)
      // What awaited promotion has been overtaken.
      return withCurrent(
        secrets.filter(({ state }) => state !== 'next'),
        made,
        now,
      )
    })
    ctx.body = { ...shownEndpoint(keyring, endpoint, clock.now()), secret: value }
  })

  router.post('/apps/:id/webhook/promote', async ctx => {
    await body(ctx, nothing)
    const endpoint = await change(ctx, 'webhook.promote', ({ secrets }, now) => {
      const next = secrets.find(({ state }) => state === 'next')
      if (!next) throw httpException(409, 'There is no new secret to promote: rotate first.')
      return withCurrent(secrets, next, now)
    })
    ctx.body = shownEndpoint(keyring, endpoint, clock.now())
  })
}
