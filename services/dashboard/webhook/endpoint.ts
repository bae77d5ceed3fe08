// GET|PUT /apps/{id}/webhook, POST /apps/{id}/webhook/enable|test. A secret that is made here is shown in that answer only.
import type { Router } from '@koa/router'
import { z } from 'zod'
import { targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import { webAddress, webhookSecret } from '../../domain/tenancy/value-schemas.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret } from '../../domain/webhooks/new-secret.ts'
import { withCurrent } from '../../domain/webhooks/secrets.ts'
import type { AdminRouteRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { emptyBody, getOr404, validationProblem } from '../request-input.ts'
import type { Change, Unchanged } from '../with-audit.ts'
import type { WebhookControl } from './control.ts'
import { endpointState } from './schemas.ts'
import { endpointAuditFields, endpointView, unsealSecret } from './view.ts'

export const endpointBody = z.strictObject({
  url: webAddress,
  /** Becomes the current secret. A new endpoint without one gets a random secret. */
  secret: webhookSecret.optional(),
  status: endpointState.optional(),
})

/** `secret`: made by this request, to be shown in its answer. */
type PutResult = { created: boolean; secret: string | null }

export const ENDPOINT_NAME = 'webhook endpoint'

export function addEndpointRoutes(router: Router, admin: AdminDeps, control: WebhookControl): void {
  const { store, keyring, clock, inspect, readBody, withAudit } = admin
  const [docs, apps] = [store.docs('webhooks'), store.docs('apps')]
  const view = (endpoint: WebhookEndpoint) => endpointView(keyring, endpoint, clock.now())
  const auditFields = (endpoint: WebhookEndpoint) => endpointAuditFields(keyring, endpoint)

  router.get('/apps/:id/webhook', async ctx => {
    const { _id: app_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    ctx.body = view(await getOr404(ctx, docs, app_id, ENDPOINT_NAME))
  })

  router.put('/apps/:id/webhook', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    const { url, secret, status } = await readBody(ctx, endpointBody)
    const refusal = await inspect.url(url)
    if (refusal !== null) throw validationProblem([{ path: 'url', message: targetProblem(refusal) }])
    const owner = { target: app_id, company_id }
    const { created, secret: newSecret } = await withAudit(
      ctx,
      async (): Promise<Change<PutResult> | Unchanged<PutResult>> => {
        const stored = (await docs.get([app_id])).get(app_id)
        if (!stored) {
          const value = secret ?? newWebhookSecret()
          const endpoint = newEndpoint(admin, { app_id, url, value })
          return {
            action: 'webhook.create',
            ...owner,
            before: null,
            after: auditFields(endpoint),
            perform: async () =>
              (await docs.insert([endpoint]))[0] === 'inserted'
                ? { created: true, secret: secret === undefined ? value : null }
                : null,
          }
        }
        const secrets = secret === undefined ? stored.secrets : withSecret(admin, stored, secret)
        const endpoint = { ...stored, url, secrets }
        if (sameJson(stored, endpoint)) return { unchanged: { created: false, secret: null } }
        return {
          action: 'webhook.change',
          ...owner,
          before: auditFields(stored),
          after: auditFields(endpoint),
          perform: async () => {
            const [answer] = await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { url, secrets } } }])
            return answer === 'won' ? { created: false, secret: null } : null
          },
        }
      },
    )
    if (status !== undefined) await setStatus(ctx, status)
    ctx.status = created ? 201 : 200
    ctx.body = {
      ...view(await getOr404(ctx, docs, app_id, ENDPOINT_NAME)),
      ...(newSecret === null ? {} : { secret: newSecret }),
    }
  })

  router.post('/apps/:id/webhook/enable', async ctx => {
    await readBody(ctx, emptyBody)
    ctx.body = view(await setStatus(ctx, 'active'))
  })

  router.post('/apps/:id/webhook/test', async ctx => {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    await readBody(ctx, emptyBody)
    const event_id = await withAudit(ctx, async () => {
      await getOr404(ctx, docs, app_id, ENDPOINT_NAME)
      return {
        action: 'webhook.test',
        target: app_id,
        company_id,
        before: null,
        after: null,
        perform: () => control.test({ app_id, company_id }),
      }
    })
    ctx.body = { event_id }
  })

  /** Enabling an endpoint in state `failing` resets its count of failures. */
  async function setStatus(ctx: AdminRouteRequest, status: WebhookEndpoint['status']): Promise<WebhookEndpoint> {
    const { _id: app_id, company_id } = await getOr404(ctx, apps, ctx.params.id, 'app')
    return withAudit(ctx, async (): Promise<Change<WebhookEndpoint> | Unchanged<WebhookEndpoint>> => {
      const stored = await getOr404(ctx, docs, app_id, ENDPOINT_NAME)
      const life = endpointLife(stored)
      if (life.value === status) return { unchanged: stored }
      const reason = life.context.paused?.reason
      return {
        action: status === 'active' ? 'webhook.enable' : 'webhook.pause',
        target: app_id,
        company_id,
        before: { status: life.value, ...(reason ? { reason } : {}) },
        after: { status },
        perform: () => (status === 'active' ? control.enable(app_id) : control.pause(app_id)),
      }
    })
  }
}

const newEndpoint = (
  { keyring, clock }: AdminDeps,
  { app_id, url, value }: { app_id: string; url: string; value: string },
): WebhookEndpoint => ({
  _id: app_id,
  url,
  status: 'active',
  rev: 0,
  secrets: [createWebhookSecret(keyring, value, { app_id, state: 'current', now: clock.now() })],
})

/** Makes `value` the current secret. The secret before it goes on signing for a day. */
function withSecret({ keyring, clock }: AdminDeps, { _id: app_id, secrets }: WebhookEndpoint, value: string) {
  const now = clock.now()
  const known = secrets.find(secret => unsealSecret(keyring, app_id, secret) === value)
  if (known?.state === 'current') return secrets
  return withCurrent(secrets, known ?? createWebhookSecret(keyring, value, { app_id, state: 'current', now }), now)
}
