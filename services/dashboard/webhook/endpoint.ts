// The webhook endpoint of an app. A secret that is made here is shown in that answer only.
import { z } from 'zod'
import { targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { webAddress, webhookSecret } from '../../domain/tenancy/value-schemas.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret } from '../../domain/webhooks/new-secret.ts'
import { withCurrent } from '../../domain/webhooks/secrets.ts'
import type { AdminRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { getOr404, validationProblem } from '../request-input.ts'
import type { Change, Unchanged } from '../with-audit.ts'
import { createWebhookControl, type WebhookControl } from './control.ts'
import { changedEndpoint, endpoint, endpointExample, endpointState, testEvent } from './schemas.ts'
import { endpointAuditFields, endpointView, unsealSecret } from './view.ts'

/** `secret`: made by this request, to be shown in its answer. */
type PutResult = { created: boolean; secret: string | null }

export const ENDPOINT_NAME = 'webhook endpoint'

const view = ({ keyring, clock }: AdminDeps, stored: WebhookEndpoint) => endpointView(keyring, stored, clock.now())

export const endpointOperations = [
  operation({
    id: 'getWebhook',
    route: 'GET /apps/{id}/webhook',
    role: 'viewer',
    summary: "Look an app's webhook up",
    description: 'The endpoint, its state, why it is paused, and fingerprints of its secrets.',
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    handle: async ({ ctx, app }, admin) =>
      view(admin, await getOr404(ctx, admin.store.docs('webhooks'), app._id, ENDPOINT_NAME)),
  }),
  operation({
    id: 'putWebhook',
    route: 'PUT /apps/{id}/webhook',
    role: 'developer',
    summary: "Set an app's webhook",
    description:
      'A new endpoint without a secret gets one, which is in this one response only. A given secret becomes the current one.',
    body: {
      schema: z
        .strictObject({
          url: webAddress,
          /** Becomes the current secret. A new endpoint without one gets a random secret. */
          secret: webhookSecret.optional(),
          status: endpointState.optional(),
        })
        .meta({ id: 'PutWebhookRequest', description: 'The endpoint of an app.' }),
      example: { url: 'https://shop.example/hooks/countersign' },
    },
    answers: [
      ok(changedEndpoint, 'It was changed.', endpointExample),
      ok(changedEndpoint, 'It was created.', { ...endpointExample, secret: 'whsec_…' }, 201),
    ],
    keep: createWebhookControl,
    handle: async ({ ctx, app, body: { url, secret, status } }, admin, control) => {
      const { store, keyring, inspect, withAudit } = admin
      const { _id: app_id, company_id } = app
      const docs = store.docs('webhooks')
      const auditFields = (stored: WebhookEndpoint) => endpointAuditFields(keyring, stored)
      const refusal = await inspect.url(url)
      if (refusal !== null) throw validationProblem([{ path: 'url', message: targetProblem(refusal) }])
      const owner = { target: app_id, company_id }
      const { created, secret: newSecret } = await withAudit(
        ctx,
        async (): Promise<Change<PutResult> | Unchanged<PutResult>> => {
          const stored = (await docs.get([app_id])).get(app_id)
          if (!stored) {
            const value = secret ?? newWebhookSecret()
            const made = newEndpoint(admin, { app_id, url, value })
            return {
              action: 'webhook.create',
              ...owner,
              before: null,
              after: auditFields(made),
              perform: async () =>
                (await docs.insert([made]))[0] === 'inserted'
                  ? { created: true, secret: secret === undefined ? value : null }
                  : null,
            }
          }
          const secrets = secret === undefined ? stored.secrets : withSecret(admin, stored, secret)
          const changed = { ...stored, url, secrets }
          if (sameJson(stored, changed)) return { unchanged: { created: false, secret: null } }
          return {
            action: 'webhook.change',
            ...owner,
            before: auditFields(stored),
            after: auditFields(changed),
            perform: async () => {
              const [answer] = await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { url, secrets } } }])
              return answer === 'won' ? { created: false, secret: null } : null
            },
          }
        },
      )
      if (status !== undefined) await setStatus(ctx, app, status, admin, control)
      if (created) ctx.status = 201
      const stored = await getOr404(ctx, docs, app_id, ENDPOINT_NAME)
      return { ...view(admin, stored), ...(newSecret === null ? {} : { secret: newSecret }) }
    },
  }),
  operation({
    id: 'enableWebhook',
    route: 'POST /apps/{id}/webhook/enable',
    role: 'developer',
    summary: 'End a pause',
    description: 'Everything that waits is sent, oldest first: events that were held, and those in retry.',
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    keep: createWebhookControl,
    handle: async ({ ctx, app }, admin, control) => view(admin, await setStatus(ctx, app, 'active', admin, control)),
  }),
  operation({
    id: 'testWebhook',
    route: 'POST /apps/{id}/webhook/test',
    role: 'developer',
    summary: 'Send a test event',
    description: 'It is sent, signed and repeated like any other event.',
    answers: [ok(testEvent, 'The event that is being sent.', { event_id: 'evt_test_01hf7yat00w51rkfpywnvhmjvq' })],
    keep: createWebhookControl,
    handle: async ({ ctx, app: { _id: app_id, company_id } }, { store, withAudit }, control) => {
      const event_id = await withAudit(ctx, async () => {
        await getOr404(ctx, store.docs('webhooks'), app_id, ENDPOINT_NAME)
        return {
          action: 'webhook.test',
          target: app_id,
          company_id,
          before: null,
          after: null,
          perform: () => control.test({ app_id, company_id }),
        }
      })
      return { event_id }
    },
  }),
]

/** Enabling an endpoint in state `failing` resets its count of failures. */
async function setStatus(
  request: AdminRequest,
  { _id: app_id, company_id }: App,
  status: WebhookEndpoint['status'],
  { store, withAudit }: AdminDeps,
  control: WebhookControl,
): Promise<WebhookEndpoint> {
  return withAudit(request, async (): Promise<Change<WebhookEndpoint> | Unchanged<WebhookEndpoint>> => {
    const stored = await getOr404(request, store.docs('webhooks'), app_id, ENDPOINT_NAME)
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
