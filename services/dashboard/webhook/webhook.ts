// GET|PUT /apps/{id}/webhook, POST /apps/{id}/webhook/enable|test. A secret that is made here is in the one answer that makes it, and
// nowhere else in the clear.
import { z } from 'zod'
import { notCalled } from '../../../infra/outbound/inspect.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import { text, webAddress } from '../../domain/tenancy/shapes.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { newWebhookSecret, sealedSecret } from '../../domain/webhooks/minting.ts'
import { withCurrent } from '../../domain/webhooks/secrets.ts'
import type { Admin, Resource } from '../admin.ts'
import type { Change, Unchanged } from '../audited.ts'
import { found, invalid, nothing } from '../requests.ts'
import { openedSecret, recordedEndpoint, shownEndpoint } from './shown.ts'

const given = z.strictObject({
  url: webAddress,
  /** Becomes the current one. One is made for a new endpoint that is given none. */
  secret: text(500).min(8).optional(),
  status: z.enum(['active', 'paused']).optional(),
})

/** `secret`: made just now, to be shown. */
type Put = { created: boolean; secret: string | null }

export const WHAT = 'webhook endpoint'

export const webhook: Resource = (router, admin) => {
  const { store, keyring, clock, inspect, webhooks, body, audited } = admin
  const [docs, apps] = [store.docs('webhooks'), store.docs('apps')]
  const shown = (endpoint: WebhookEndpoint) => shownEndpoint(keyring, endpoint, clock.now())
  const recorded = (endpoint: WebhookEndpoint) => recordedEndpoint(keyring, endpoint)

  router.get('/apps/:id/webhook', async ctx => {
    const { _id: app_id } = await found(apps, ctx.params.id, 'app')
    ctx.body = shown(await found(docs, app_id, WHAT))
  })

  router.put('/apps/:id/webhook', async ctx => {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    const { url, secret, status } = await body(ctx, given)
    const refusal = await inspect.url(url)
    if (refusal !== null) throw invalid([{ path: 'url', message: notCalled(refusal) }])
    const owner = { target: app_id, company_id }
    const { created, secret: made } = await audited(ctx, async (): Promise<Change<Put> | Unchanged<Put>> => {
      const stored = (await docs.get([app_id])).get(app_id)
      if (!stored) {
        const value = secret ?? newWebhookSecret()
        const endpoint = newEndpoint(admin, { app_id, url, value })
        return {
          ...{ action: 'webhook.create', ...owner, before: null, after: recorded(endpoint) },
          perform: async () =>
            (await docs.insert([endpoint]))[0] === 'inserted'
              ? { created: true, secret: secret === undefined ? value : null }
              : null,
        }
      }
      const secrets = secret === undefined ? stored.secrets : withGiven(admin, stored, secret)
      const endpoint = { ...stored, url, secrets }
      if (sameJson(stored, endpoint)) return { unchanged: { created: false, secret: null } }
      return {
        ...{ action: 'webhook.change', ...owner, before: recorded(stored), after: recorded(endpoint) },
        perform: async () => {
          const [answer] = await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { url, secrets } } }])
          return answer === 'won' ? { created: false, secret: null } : null
        },
      }
    })
    if (status !== undefined) await turned(ctx, status)
    ctx.status = created ? 201 : 200
    ctx.body = { ...shown(await found(docs, app_id, WHAT)), ...(made === null ? {} : { secret: made }) }
  })

  router.post('/apps/:id/webhook/enable', async ctx => {
    await body(ctx, nothing)
    ctx.body = shown(await turned(ctx, 'active'))
  })

  router.post('/apps/:id/webhook/test', async ctx => {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    await body(ctx, nothing)
    const event_id = await audited(ctx, async () => {
      await found(docs, app_id, WHAT)
      return {
        ...{ action: 'webhook.test', target: app_id, company_id, before: null, after: null },
        perform: () => webhooks.test({ app_id, company_id }),
      }
    })
    ctx.body = { event_id }
  })

  /** Enables or pauses it. One that is failing is enabled too: its failures are forgotten. */
  async function turned(ctx: Asked, status: WebhookEndpoint['status']): Promise<WebhookEndpoint> {
    const { _id: app_id, company_id } = await found(apps, ctx.params.id, 'app')
    return audited(ctx, async (): Promise<Change<WebhookEndpoint> | Unchanged<WebhookEndpoint>> => {
      const stored = await found(docs, app_id, WHAT)
      const life = endpointLife(stored)
      if (life.value === status) return { unchanged: stored }
      const reason = life.context.paused?.reason
      return {
        ...{ action: status === 'active' ? 'webhook.enable' : 'webhook.pause', target: app_id, company_id },
        ...{ before: { status: life.value, ...(reason ? { reason } : {}) }, after: { status } },
        perform: () => (status === 'active' ? webhooks.enable(app_id) : webhooks.pause(app_id)),
      }
    })
  }
}

interface Asked {
  params: Record<string, string | undefined>
  state: { who?: unknown }
}

const newEndpoint = (
  { keyring, clock }: Admin,
  { app_id, url, value }: { app_id: string; url: string; value: string },
): WebhookEndpoint => ({
  ...{ _id: app_id, url, status: 'active', rev: 0 },
  secrets: [sealedSecret(keyring, value, { app_id, state: 'current', now: clock.now() })],
})

/** One that is in the list already is promoted; the one before goes on signing for a day. */
function withGiven({ keyring, clock }: Admin, { _id: app_id, secrets }: WebhookEndpoint, value: string) {
  const now = clock.now()
  const known = secrets.find(secret => openedSecret(keyring, app_id, secret) === value)
  if (known?.state === 'current') return secrets
  return withCurrent(secrets, known ?? sealedSecret(keyring, value, { app_id, state: 'current', now }), now)
}
