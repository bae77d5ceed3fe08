// The endpoints of an app, and its webhook, which is the oldest of them. What can be done with an endpoint is declared
// once and served under both paths. A secret that is made here is shown in that answer only.
import { z } from 'zod'
import { findEndpoints } from '../../domain/webhooks/documents.ts'
import { endpointId, eventFilterOf, refOf } from '../../domain/webhooks/endpoint-ids.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { conflict, noContent, ok } from '../answers.ts'
import { operation } from '../operation.ts'
import { createWebhookControl } from './control.ts'
import {
  type EndpointFields,
  enable,
  endpointFields,
  endpointWithId,
  planChange,
  planCreation,
  requireCallable,
  type SavedEndpoint,
  sendTestEvent,
  setStatus,
  TOO_MANY_ENDPOINTS,
  viewEndpoint,
  webhookOf,
} from './endpoint-changes.ts'
import { changedEndpoint, endpoint, endpointExample, endpointList, testEvent } from './schemas.ts'
import { endpointAuditFields } from './view.ts'

const newEndpointBody = z
  .strictObject(endpointFields)
  .meta({ id: 'NewEndpointRequest', description: 'An endpoint to add to an app.' })

const patchBody = z
  .strictObject(endpointFields)
  .partial()
  .meta({ id: 'PatchEndpointRequest', description: 'Members that are left out stay as they are.' })

const putBody = z
  .strictObject({ url: endpointFields.url, secret: endpointFields.secret, status: endpointFields.status })
  .meta({ id: 'PutWebhookRequest', description: 'The oldest endpoint of an app.' })

const urlExample = { url: 'https://shop.example/hooks/countersign' }
const createdAnswer = ok(changedEndpoint, 'It was created.', { ...endpointExample, secret: 'whsec_…' }, 201)
const changedAnswer = ok(changedEndpoint, 'It was changed.', endpointExample)

const savedView = (admin: AdminDeps, { endpoint, secret }: SavedEndpoint) => ({
  ...viewEndpoint(admin, endpoint),
  ...(secret === null ? {} : { secret }),
})

const ENABLE = {
  role: 'developer',
  summary: 'End a pause',
  description: 'Everything that waits is sent, oldest first: events that were held, and those in retry.',
  answers: [ok(endpoint, 'The endpoint.', endpointExample)],
  keep: createWebhookControl,
} as const

const TEST = {
  role: 'developer',
  summary: 'Send a test event',
  description: 'It is sent, signed and repeated like any other event, whatever events the endpoint asks for.',
  answers: [ok(testEvent, 'The event that is being sent.', { event_id: 'evt_test_01hf7yat00w51rkfpywnvhmjvq' })],
  keep: createWebhookControl,
} as const

export const endpointOperations = [
  operation({
    id: 'getWebhook',
    request: 'GET /apps/{id}/webhook',
    role: 'viewer',
    summary: "Look an app's webhook up",
    description: 'Its oldest endpoint: the state, why it is paused, and fingerprints of its secrets.',
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    handle: async ({ app }, admin) => viewEndpoint(admin, await webhookOf(admin.store, app).find()),
  }),
  operation({
    id: 'putWebhook',
    request: 'PUT /apps/{id}/webhook',
    role: 'developer',
    summary: "Set an app's webhook",
    description:
      'Changes the oldest endpoint, or makes the first one. A new endpoint without a secret gets one, which is in this one response only. A given secret becomes the current one.',
    body: { schema: putBody, example: urlExample },
    answers: [changedAnswer, createdAnswer],
    stepUp: true,
    keep: createWebhookControl,
    handle: async ({ ctx, app, body }, admin, control) => {
      const { status, ...fields } = body
      await requireCallable(admin, body.url)
      const saved = await admin.withAudit(ctx, async () => {
        const [oldest] = await findEndpoints(admin.store.docs('webhooks'), app._id)
        return oldest ? planChange(admin, app, oldest, fields) : planCreation(admin, app, fields)
      })
      const target = webhookOf(admin.store, app)
      if (status !== undefined) saved.endpoint = await setStatus(ctx, target, status, admin, control)
      if (saved.created) ctx.status = 201
      return savedView(admin, saved)
    },
  }),
  operation({
    ...ENABLE,
    id: 'enableWebhook',
    request: 'POST /apps/{id}/webhook/enable',
    handle: async ({ ctx, app }, admin, control) =>
      viewEndpoint(admin, await enable(ctx, webhookOf(admin.store, app), admin, control)),
  }),
  operation({
    ...TEST,
    id: 'testWebhook',
    request: 'POST /apps/{id}/webhook/test',
    handle: async ({ ctx, app }, admin, control) => ({
      event_id: await sendTestEvent(ctx, webhookOf(admin.store, app), admin, control),
    }),
  }),
  operation({
    id: 'listEndpoints',
    request: 'GET /apps/{id}/endpoints',
    role: 'viewer',
    summary: "List an app's endpoints",
    description: 'The oldest first. The oldest is also the webhook of the app.',
    answers: [ok(endpointList, 'The endpoints.', { items: [{ ...endpointExample, waiting: 0 }], next_cursor: null })],
    handle: async ({ app }, admin) => {
      const [webhooks, events] = [admin.store.docs('webhooks'), admin.store.docs('events')]
      const items = (await findEndpoints(webhooks, app._id)).map(async stored => {
        const own = eventFilterOf(refOf(stored))
        const [inBacklog, inRetry] = await Promise.all([
          events.count({ ...own, backlog_at: { $gt: 0 } }),
          events.count({ ...own, next_attempt_at: { $gt: 0 } }),
        ])
        return { ...viewEndpoint(admin, stored), waiting: inBacklog + inRetry }
      })
      return { items: await Promise.all(items), next_cursor: null }
    },
  }),
  operation({
    id: 'createEndpoint',
    request: 'POST /apps/{id}/endpoints',
    role: 'developer',
    summary: 'Add an endpoint',
    description:
      'It is sent the events that happen from now on. Without a secret it gets one, which is in this one response only.',
    body: {
      schema: newEndpointBody,
      example: { ...urlExample, name: 'CRM', events: ['otp.approved', 'otp.expired'], payload: 'full' },
    },
    answers: [createdAnswer],
    refusals: [conflict(TOO_MANY_ENDPOINTS)],
    stepUp: true,
    keep: createWebhookControl,
    handle: async ({ ctx, app, body }, admin, control) => {
      const { status = 'active', ...fields } = body
      await requireCallable(admin, body.url)
      const saved = await admin.withAudit(ctx, () => planCreation(admin, app, fields))
      if (status === 'paused') {
        const target = await endpointWithId(ctx, admin.store, endpointId(saved.endpoint._id))
        saved.endpoint = await setStatus(ctx, target, status, admin, control)
      }
      return savedView(admin, saved)
    },
  }),
  operation({
    id: 'getEndpoint',
    request: 'GET /endpoints/{id}',
    role: 'viewer',
    summary: 'Look an endpoint up',
    description: 'Its state, why it is paused, and fingerprints of its secrets.',
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    handle: async ({ ctx, params }, admin) =>
      viewEndpoint(admin, (await endpointWithId(ctx, admin.store, params.id)).endpoint),
  }),
  operation({
    id: 'patchEndpoint',
    request: 'PATCH /endpoints/{id}',
    role: 'developer',
    summary: 'Change an endpoint',
    description:
      'Other events and another payload hold for what happens from now on. A given secret becomes the current one.',
    body: { schema: patchBody, example: { events: ['otp.approved'], payload: 'full' } },
    answers: [ok(endpoint, 'The endpoint.', endpointExample)],
    stepUp: ({ body: { url, secret } }) => url !== undefined || secret !== undefined,
    keep: createWebhookControl,
    handle: async ({ ctx, params, body }, admin, control) => {
      const { status, ...fields }: EndpointFields = body
      const target = await endpointWithId(ctx, admin.store, params.id)
      await requireCallable(admin, fields.url)
      const { endpoint: changed } = await admin.withAudit(ctx, async () =>
        planChange(admin, target.app, await target.find(), fields),
      )
      return viewEndpoint(admin, status === undefined ? changed : await setStatus(ctx, target, status, admin, control))
    },
  }),
  operation({
    id: 'deleteEndpoint',
    request: 'DELETE /endpoints/{id}',
    role: 'developer',
    summary: 'Delete an endpoint',
    description:
      'It is called no more within 5 s, and what waits for it is not sent. If it was the oldest, the next one is the webhook of the app.',
    answers: [noContent('It is deleted.')],
    stepUp: true,
    keep: createWebhookControl,
    handle: async ({ ctx, params }, { store, keyring, withAudit }, control) => {
      const { app, find } = await endpointWithId(ctx, store, params.id)
      await withAudit(ctx, async () => {
        const stored = await find()
        return {
          action: 'webhook.delete',
          target: stored._id,
          company_id: app.company_id,
          before: endpointAuditFields(keyring, stored),
          after: null,
          perform: () => control.remove(stored),
        }
      })
    },
  }),
  operation({
    ...ENABLE,
    id: 'enableEndpoint',
    request: 'POST /endpoints/{id}/enable',
    handle: async ({ ctx, params }, admin, control) => {
      const target = await endpointWithId(ctx, admin.store, params.id)
      return viewEndpoint(admin, await enable(ctx, target, admin, control))
    },
  }),
  operation({
    ...TEST,
    id: 'testEndpoint',
    request: 'POST /endpoints/{id}/test',
    handle: async ({ ctx, params }, admin, control) => ({
      event_id: await sendTestEvent(ctx, await endpointWithId(ctx, admin.store, params.id), admin, control),
    }),
  }),
]
