// The secrets of an endpoint. Rotating adds a new secret, which signs beside the current one until the receiver knows it. Promoting
// makes it the current one. With `immediate`, rotating does both at once.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import type { WebhookEndpoint, WebhookSecret } from '../../domain/webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret, withCurrent, withNext } from '../../domain/webhooks/secrets.ts'
import type { AdminRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { endpointWithId, type FoundEndpoint, viewEndpoint, webhookOf } from './endpoint-changes.ts'
import { endpoint, endpointExample, rotatedEndpoint } from './schemas.ts'
import { endpointAuditFields } from './view.ts'

const rotateBody = z
  .strictObject({ immediate: z.boolean().default(false) })
  .meta({ id: 'RotateSecretRequest', description: '`immediate`: the new secret becomes the current one at once.' })

const ROTATE = {
  role: 'developer',
  stepUp: true,
  summary: 'Make a new signing secret',
  description:
    'It signs beside the current one until it is promoted. The secret is in this one response only. A second rotation before promoting replaces it.',
  body: { schema: rotateBody.optional(), example: { immediate: false } },
  answers: [ok(rotatedEndpoint, 'The endpoint, with the new secret.', { ...endpointExample, secret: 'whsec_…' })],
} as const

const PROMOTE = {
  role: 'developer',
  stepUp: true,
  summary: 'Promote the new signing secret',
  description: 'It becomes the current one; the one before it signs for another day.',
  answers: [ok(endpoint, 'The endpoint.', endpointExample)],
  refusals: [conflict('There is no new secret to promote.')],
} as const

export const rotationOperations = [
  operation({
    ...ROTATE,
    id: 'rotateWebhookSecret',
    request: 'POST /apps/{id}/webhook/rotate',
    handle: ({ ctx, app, body }, admin) => rotate(ctx, webhookOf(admin.store, app), body?.immediate, admin),
  }),
  operation({
    ...PROMOTE,
    id: 'promoteWebhookSecret',
    request: 'POST /apps/{id}/webhook/promote',
    handle: ({ ctx, app }, admin) => promote(ctx, webhookOf(admin.store, app), admin),
  }),
  operation({
    ...ROTATE,
    id: 'rotateEndpointSecret',
    request: 'POST /endpoints/{id}/rotate',
    handle: async ({ ctx, params, body }, admin) =>
      rotate(ctx, await endpointWithId(ctx, admin.store, params.id), body?.immediate, admin),
  }),
  operation({
    ...PROMOTE,
    id: 'promoteEndpointSecret',
    request: 'POST /endpoints/{id}/promote',
    handle: async ({ ctx, params }, admin) => promote(ctx, await endpointWithId(ctx, admin.store, params.id), admin),
  }),
]

async function rotate(request: AdminRequest, target: FoundEndpoint, immediate = false, admin: AdminDeps) {
  const value = newWebhookSecret()
  const action = immediate ? 'webhook.rotate_now' : 'webhook.rotate'
  const changed = await changeSecrets(request, target, admin, action, ({ _id, secrets }, now) => {
    const newSecret = createWebhookSecret(admin.keyring, value, { endpoint_id: _id, state: 'next', now })
    if (!immediate) return withNext(secrets, newSecret, now)
    // A secret that awaits promotion is dropped: the new one replaces it.
    return withCurrent(
      secrets.filter(({ state }) => state !== 'next'),
      newSecret,
      now,
    )
  })
  return { ...viewEndpoint(admin, changed), secret: value }
}

async function promote(request: AdminRequest, target: FoundEndpoint, admin: AdminDeps) {
  const changed = await changeSecrets(request, target, admin, 'webhook.promote', ({ secrets }, now) => {
    const next = secrets.find(({ state }) => state === 'next')
    if (!next) throw httpException(409, 'There is no new secret to promote: rotate first.')
    return withCurrent(secrets, next, now)
  })
  return viewEndpoint(admin, changed)
}

/** Replaces the secrets. Resolves with the endpoint as it is afterwards. */
async function changeSecrets(
  request: AdminRequest,
  { app: { company_id }, find }: FoundEndpoint,
  { store, keyring, clock, withAudit }: AdminDeps,
  action: string,
  secretsOf: (endpoint: WebhookEndpoint, now: number) => WebhookSecret[],
): Promise<WebhookEndpoint> {
  const docs = store.docs('webhooks')
  return withAudit(request, async () => {
    const stored = await find()
    const secrets = secretsOf(stored, clock.now())
    const changed = { ...stored, secrets, rev: stored.rev + 1 }
    return {
      action,
      target: stored._id,
      company_id,
      before: endpointAuditFields(keyring, stored),
      after: endpointAuditFields(keyring, changed),
      perform: async () =>
        (await changeOne(docs, { _id: stored._id, rev: stored.rev, update: { $set: { secrets } } })) ? changed : null,
    }
  })
}
