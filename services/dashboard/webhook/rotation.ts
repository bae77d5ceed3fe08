// The secrets of an app's webhook. Rotating adds a new secret, which signs beside the current one until the receiver knows it. Promoting
// makes it the current one. With `immediate`, rotating does both at once.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import type { WebhookEndpoint, WebhookSecret } from '../../domain/webhooks/documents.ts'
import { createWebhookSecret, newWebhookSecret } from '../../domain/webhooks/new-secret.ts'
import { withCurrent, withNext } from '../../domain/webhooks/secrets.ts'
import type { AdminRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { getOr404 } from '../request-input.ts'
import { ENDPOINT_NAME } from './endpoint.ts'
import { endpoint, endpointExample, rotatedEndpoint } from './schemas.ts'
import { endpointAuditFields, endpointView } from './view.ts'

const rotateBody = z
  .strictObject({ immediate: z.boolean().default(false) })
  .meta({ id: 'RotateSecretRequest', description: '`immediate`: the new secret becomes the current one at once.' })

export const rotationOperations = [
  operation({
    id: 'rotateWebhookSecret',
    route: 'POST /apps/{id}/webhook/rotate',
    role: 'developer',
    summary: 'Make a new signing secret',
    description:
      'It signs beside the current one until it is promoted. The secret is in this one response only. A second rotation before promoting replaces it.',
    body: { schema: rotateBody.optional(), example: { immediate: false } },
    answers: [ok(rotatedEndpoint, 'The endpoint, with the new secret.', { ...endpointExample, secret: 'whsec_…' })],
    handle: async ({ ctx, app, body }, admin) => {
      const { keyring, clock } = admin
      const { immediate = false } = body ?? {}
      const value = newWebhookSecret()
      const action = immediate ? 'webhook.rotate_now' : 'webhook.rotate'
      const changed = await changeSecrets(ctx, app, admin, action, ({ _id, secrets }, now) => {
        const newSecret = createWebhookSecret(keyring, value, { app_id: _id, state: 'next', now })
        if (!immediate) return withNext(secrets, newSecret, now)
        // A secret that awaits promotion is dropped: the new one replaces it.
        return withCurrent(
          secrets.filter(({ state }) => state !== 'next'),
          newSecret,
          now,
        )
      })
      return { ...endpointView(keyring, changed, clock.now()), secret: value }
    },
  }),
  operation({
    id: 'promoteWebhookSecret',
    route: 'POST /apps/{id}/webhook/promote',
    role: 'developer',
    summary: 'Promote the new signing secret',
    description: 'It becomes the current one; the one before it signs for another day.',
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    refusals: [conflict('There is no new secret to promote.')],
    handle: async ({ ctx, app }, admin) => {
      const changed = await changeSecrets(ctx, app, admin, 'webhook.promote', ({ secrets }, now) => {
        const next = secrets.find(({ state }) => state === 'next')
        if (!next) throw httpException(409, 'There is no new secret to promote: rotate first.')
        return withCurrent(secrets, next, now)
      })
      return endpointView(admin.keyring, changed, admin.clock.now())
    },
  }),
]

/** Replaces the secrets. Resolves with the endpoint as it is afterwards. */
async function changeSecrets(
  request: AdminRequest,
  { _id: app_id, company_id }: App,
  { store, keyring, clock, withAudit }: AdminDeps,
  action: string,
  secretsOf: (endpoint: WebhookEndpoint, now: number) => WebhookSecret[],
): Promise<WebhookEndpoint> {
  const docs = store.docs('webhooks')
  return withAudit(request, async () => {
    const stored = await getOr404(request, docs, app_id, ENDPOINT_NAME)
    const secrets = secretsOf(stored, clock.now())
    const changed = { ...stored, secrets, rev: stored.rev + 1 }
    return {
      action,
      target: app_id,
      company_id,
      before: endpointAuditFields(keyring, stored),
      after: endpointAuditFields(keyring, changed),
      perform: async () =>
        (await docs.change([{ _id: app_id, rev: stored.rev, update: { $set: { secrets } } }]))[0] === 'won'
          ? changed
          : null,
    }
  })
}
