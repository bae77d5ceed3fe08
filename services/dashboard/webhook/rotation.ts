// POST /apps/{id}/webhook/rotate|promote. Rotating adds a new secret, which signs beside the current one until the receiver knows it.
// Promoting makes it the current one. With `immediate`, rotating does both at once.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import type { WebhookEndpoint, WebhookSecret } from '../../domain/webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret } from '../../domain/webhooks/new-secret.ts'
import { withCurrent, withNext } from '../../domain/webhooks/secrets.ts'
import type { AdminRouteRequest } from '../access.ts'
import type { AddRoutes } from '../admin-deps.ts'
import { emptyBody, getOr404 } from '../request-input.ts'
import { ENDPOINT_NAME } from './endpoint.ts'
import { endpointAuditFields, endpointView } from './view.ts'

export const rotateBody = z.strictObject({ immediate: z.boolean().default(false) }).optional()

export const addRotationRoutes: AddRoutes = (router, { store, keyring, clock, readBody, withAudit }) => {
  const [docs, apps] = [store.docs('webhooks'), store.docs('apps')]

  /** Replaces the secrets. Resolves with the endpoint as it is afterwards. */
  async function changeSecrets(
    ctx: AdminRouteRequest,
    action: string,
    secretsOf: (endpoint: WebhookEndpoint, now: number) => WebhookSecret[],
  ): Promise<WebhookEndpoint> {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    return withAudit(ctx, async () => {
      const stored = await getOr404(ctx, docs, app_id, ENDPOINT_NAME)
      const secrets = secretsOf(stored, clock.now())
      const endpoint = { ...stored, secrets, rev: stored.rev + 1 }
      return {
        action,
        target: app_id,
        company_id,
        before: endpointAuditFields(keyring, stored),
        after: endpointAuditFields(keyring, endpoint),
        perform: async () =>
          (await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { secrets } } }]))[0] === 'won'
            ? endpoint
            : null,
      }
    })
  }

  router.post('/apps/:id/webhook/rotate', async ctx => {
    const { immediate = false } = (await readBody(ctx, rotateBody)) ?? {}
    const value = newWebhookSecret()
    const endpoint = await changeSecrets(
      ctx,
      immediate ? 'webhook.rotate_now' : 'webhook.rotate',
      ({ _id, secrets }, now) => {
        const newSecret = createWebhookSecret(keyring, value, { app_id: _id, state: 'next', now })
        if (!immediate) return withNext(secrets, newSecret, now)
        // A secret that awaits promotion is dropped: the new one replaces it.
        return withCurrent(
          secrets.filter(({ state }) => state !== 'next'),
          newSecret,
          now,
        )
      },
    )
    ctx.body = { ...endpointView(keyring, endpoint, clock.now()), secret: value }
  })

  router.post('/apps/:id/webhook/promote', async ctx => {
    await readBody(ctx, emptyBody)
    const endpoint = await changeSecrets(ctx, 'webhook.promote', ({ secrets }, now) => {
      const next = secrets.find(({ state }) => state === 'next')
      if (!next) throw httpException(409, 'There is no new secret to promote: rotate first.')
      return withCurrent(secrets, next, now)
    })
    ctx.body = endpointView(keyring, endpoint, clock.now())
  })
}
