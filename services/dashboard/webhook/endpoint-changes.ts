// Finds endpoints, and plans and makes their changes, for the operations of an app's webhook and of its endpoints. A secret that is made
// here is shown in that answer only.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { newId } from '../../../infra/ids.ts'
import { targetProblem } from '../../../infra/outbound/target-inspector.ts'
import { sameJson } from '../../../infra/store/ensure.ts'
import { changeOne } from '../../../infra/store/one-doc.ts'
import { endpointLife } from '../../../machines/endpoint.step.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { shownName, webAddress, webhookSecret } from '../../domain/tenancy/value-schemas.ts'
import { findEndpoints, MAX_ENDPOINTS_PER_APP, type WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { appIdOf, eventFilterOf, refOf, storedEndpointIds } from '../../domain/webhooks/endpoint-ids.ts'
import { createWebhookSecret, newWebhookSecret, withCurrent } from '../../domain/webhooks/secrets.ts'
import type { AdminRequest } from '../access.ts'
import type { AdminDeps } from '../admin-deps.ts'
import { getOr404, notFound, validationProblem } from '../request-input.ts'
import type { Change, Unchanged } from '../with-audit.ts'
import type { WebhookControl } from './control.ts'
import { type EndpointAnswer, endpointState, eventTypeAskedFor, payloadKind } from './schemas.ts'
import { endpointAuditFields, endpointView, unsealSecret } from './view.ts'

export const ENDPOINT_NAME = 'webhook endpoint'

export const TOO_MANY_ENDPOINTS = `An app has at most ${MAX_ENDPOINTS_PER_APP} endpoints.`

/** The members of an endpoint that a request may give. */
export const endpointFields = {
  name: shownName(100).nullable().optional(),
  url: webAddress,
  events: z
    .array(eventTypeAskedFor)
    .min(1)
    .refine(types => new Set(types).size === types.length, 'must name each type once')
    .optional()
    .meta({ description: "Without it, the contract's four." }),
  payload: payloadKind.optional(),
  /** Becomes the current secret. A new endpoint without one gets a random secret. */
  secret: webhookSecret.optional(),
  status: endpointState.optional(),
}

const fieldsSchema = z.strictObject(endpointFields).partial()
export type EndpointFields = z.output<typeof fieldsSchema>

/** `secret`: made by this request, to be shown in its answer. */
export interface SavedEndpoint {
  endpoint: WebhookEndpoint
  created: boolean
  secret: string | null
}

/** Which endpoint a request is about. It is found again after a lost race. */
export interface FoundEndpoint {
  app: App
  find(): Promise<WebhookEndpoint>
}

/** The oldest endpoint of the app. */
export const webhookOf = (store: CountersignStore, app: App): FoundEndpoint => ({
  app,
  async find() {
    const [oldest] = await findEndpoints(store.docs('webhooks'), app._id)
    if (!oldest) throw notFound(ENDPOINT_NAME)
    return oldest
  },
})

export async function endpointWithId(
  request: AdminRequest,
  store: CountersignStore,
  id: string,
): Promise<FoundEndpoint & { endpoint: WebhookEndpoint }> {
  const find = async (): Promise<WebhookEndpoint> => {
    const stored = [...(await store.docs('webhooks').get(storedEndpointIds(id))).values()]
    const found = stored.find(({ deleted_at }) => deleted_at === undefined)
    if (!found) throw notFound(ENDPOINT_NAME)
    return found
  }
  const endpoint = await find()
  return { endpoint, find, app: await getOr404(request, store.docs('apps'), appIdOf(endpoint), ENDPOINT_NAME) }
}

export const viewEndpoint = ({ keyring, clock }: AdminDeps, stored: WebhookEndpoint): EndpointAnswer =>
  endpointView(keyring, stored, clock.now())

export async function requireCallable({ inspect }: AdminDeps, url: string | undefined): Promise<void> {
  const refusal = url === undefined ? null : await inspect.url(url)
  if (refusal !== null) throw validationProblem([{ path: 'url', message: targetProblem(refusal) }])
}

export async function planCreation(
  admin: AdminDeps,
  { _id: app_id, company_id }: App,
  fields: EndpointFields & { url: string },
): Promise<Change<SavedEndpoint>> {
  const { store, keyring, clock } = admin
  const docs = store.docs('webhooks')
  const all = await findEndpoints(docs, app_id)
  if (all.length >= MAX_ENDPOINTS_PER_APP) throw httpException(409, TOO_MANY_ENDPOINTS)
  // The document of a deleted endpoint stays for a while.
  const isFirst = all.length === 0 && !(await docs.get([app_id])).has(app_id)
  const slot = Array.from(all, (_, at) => at + 1).find(one => all.every(other => other.slot !== one)) ?? all.length + 1
  const place = isFirst ? { _id: app_id } : { _id: newId('whk', clock.now()), app_id, slot }
  const value = fields.secret ?? newWebhookSecret()
  const made: WebhookEndpoint = {
    ...place,
    ...settingsOf(fields).$set,
    url: fields.url,
    status: 'active',
    rev: 0,
    secrets: [createWebhookSecret(keyring, value, { endpoint_id: place._id, state: 'current', now: clock.now() })],
  }
  return {
    action: 'webhook.create',
    target: made._id,
    company_id,
    before: null,
    after: endpointAuditFields(keyring, made),
    perform: async () =>
      (await docs.insert([made]))[0] === 'inserted'
        ? { endpoint: made, created: true, secret: fields.secret === undefined ? value : null }
        : null,
  }
}

export function planChange(
  admin: AdminDeps,
  { company_id }: App,
  stored: WebhookEndpoint,
  fields: EndpointFields,
): Change<SavedEndpoint> | Unchanged<SavedEndpoint> {
  const { store, keyring } = admin
  const { $set, $unset } = settingsOf(fields)
  const secrets = fields.secret === undefined ? stored.secrets : withSecret(admin, stored, fields.secret)
  const changed: WebhookEndpoint = { ...stored, ...$set, secrets, rev: stored.rev + 1 }
  for (const name of Object.keys($unset) as (keyof typeof $unset)[]) delete changed[name]
  if (sameJson({ ...stored, rev: changed.rev }, changed))
    return { unchanged: { endpoint: stored, created: false, secret: null } }
  return {
    action: 'webhook.change',
    target: stored._id,
    company_id,
    before: endpointAuditFields(keyring, stored),
    after: endpointAuditFields(keyring, changed),
    perform: async () => {
      const update = { $set: { ...$set, secrets }, $unset }
      return (await changeOne(store.docs('webhooks'), { _id: stored._id, rev: stored.rev, update }))
        ? { endpoint: changed, created: false, secret: null }
        : null
    },
  }
}

/** What is the default is not stored. */
function settingsOf({ name, url, events, payload }: EndpointFields) {
  const $set: Partial<Pick<WebhookEndpoint, 'name' | 'url' | 'events' | 'payload'>> = {}
  const $unset: { name?: true; payload?: true } = {}
  if (name) $set.name = name
  else if (name === null) $unset.name = true
  if (url !== undefined) $set.url = url
  if (events !== undefined) $set.events = events
  if (payload === 'full') $set.payload = payload
  else if (payload === 'minimal') $unset.payload = true
  return { $set, $unset }
}

/** Enabling an endpoint in state `failing` resets its count of failures. `retriesToo`: enabling one that is `active`
 *  makes its events in retry due, which saving it as active, perhaps again and again, does not. */
export const setStatus = (
  request: AdminRequest,
  { app: { company_id }, find }: FoundEndpoint,
  status: WebhookEndpoint['status'],
  { store, withAudit }: AdminDeps,
  control: WebhookControl,
  { retriesToo = false } = {},
): Promise<WebhookEndpoint> =>
  withAudit(request, async (): Promise<Change<WebhookEndpoint> | Unchanged<WebhookEndpoint>> => {
    const stored = await find()
    const life = endpointLife(stored)
    if (life.value === status && !(retriesToo && (await hasRetries(store, stored)))) return { unchanged: stored }
    const reason = life.context.paused?.reason
    return {
      action: status === 'active' ? 'webhook.enable' : 'webhook.pause',
      target: stored._id,
      company_id,
      before: { status: life.value, ...(reason ? { reason } : {}) },
      after: { status },
      perform: () => (status === 'active' ? control.enable(stored._id) : control.pause(stored._id)),
    }
  })

export const enable = (
  request: AdminRequest,
  endpoint: FoundEndpoint,
  admin: AdminDeps,
  control: WebhookControl,
): Promise<WebhookEndpoint> => setStatus(request, endpoint, 'active', admin, control, { retriesToo: true })

async function hasRetries(store: CountersignStore, endpoint: WebhookEndpoint): Promise<boolean> {
  const filter = { ...eventFilterOf(refOf(endpoint)), next_attempt_at: { $gt: 0 } }
  return (await store.docs('events').count(filter, 1)) > 0
}

export const sendTestEvent = (
  request: AdminRequest,
  { app: { company_id }, find }: FoundEndpoint,
  { withAudit }: AdminDeps,
  control: WebhookControl,
): Promise<string> =>
  withAudit(request, async () => {
    const stored = await find()
    return {
      action: 'webhook.test',
      target: stored._id,
      company_id,
      before: null,
      after: null,
      perform: () => control.test({ ...refOf(stored), company_id }),
    }
  })

/** Makes `value` the current secret. The secret before it goes on signing for a day. */
function withSecret({ keyring, clock }: AdminDeps, { _id, secrets }: WebhookEndpoint, value: string) {
  const now = clock.now()
  const known = secrets.find(secret => unsealSecret(keyring, _id, secret) === value)
  if (known?.state === 'current') return secrets
  const current = known ?? createWebhookSecret(keyring, value, { endpoint_id: _id, state: 'current', now })
  return withCurrent(secrets, current, now)
}
