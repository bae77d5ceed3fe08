// The webhook events of an app with their attempts, newest first, and sending them again.
import { z } from 'zod'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { MAX_ID_TIME } from '../../../infra/ids.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import { answerText } from '../../domain/privacy/event-answers.ts'
import type { App } from '../../domain/tenancy/documents.ts'
import { type EventDoc, findEndpoints, type WebhookEndpoint } from '../../domain/webhooks/documents.ts'
import { appIdOf, endpointId, hasEndpoint, refOf, storedEndpointId } from '../../domain/webhooks/endpoint-ids.ts'
import { eventId, parseEventId } from '../../domain/webhooks/event-ids.ts'
import { type AdminRequest, mayAccessCompany } from '../access.ts'
import { conflict, ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { pageFields } from '../pages.ts'
import { notFound, validationProblem } from '../request-input.ts'
import { refuseEmptyRange } from '../time-query.ts'
import { createWebhookControl } from './control.ts'
import { endpointWithId } from './endpoint-changes.ts'
import { endpointsToReplay, findEventDocs } from './event-replay.ts'
import { createEventSearch, eventSearchFields } from './event-search.ts'
import { type EventAnswer, type EventDeliveriesAnswer, eventPage, eventWithDeliveries, replayed } from './schemas.ts'

const query = z.strictObject({ ...pageFields, ...eventSearchFields }).check(refuseEmptyRange)

const TIME_MESSAGE = 'must be a time, such as "2030-01-31T12:00:00Z"'
/** ISO 8601, as times are shown, or epoch milliseconds, as they are stored. */
export const momentSchema = z.union(
  [
    z.iso.datetime({ offset: true }).transform(Date.parse),
    z.number().refine(at => Number.isInteger(at) && at >= 0 && at <= MAX_ID_TIME, TIME_MESSAGE),
  ],
  { error: ({ input }) => (input === undefined ? 'is required' : TIME_MESSAGE) },
)
const endpoint_id = z
  .string()
  .optional()
  .meta({ description: 'Only to this endpoint of the app, even if the event was not for it.' })

const replayOneBody = z
  .strictObject({ endpoint_id })
  .meta({ id: 'ReplayEventRequest', description: 'Without an endpoint: to all that the event was for.' })

const replayBody = z
  .strictObject({ since: momentSchema, until: momentSchema.optional(), endpoint_id })
  .meta({ id: 'ReplayEventsRequest', description: 'From `since` (inclusive) to `until` (now).' })

const eventExample: EventAnswer = {
  id: 'evt_01hf7yat00w51rkfpywnvhmjvq',
  type: 'otp.approved',
  mode: 'live',
  payload: { otp_id: 'otp_01hf7y9jy02c5j477k4p3pnres', status: 'approved' },
  created_at: '2030-01-01T12:00:00.000Z',
  endpoint_id: 'whk_01k2m8x4e9s7v3hqz5tnw6yb0c',
  status: 'delivered',
  round: 1,
  next_attempt_at: null,
  attempts: [
    {
      at: '2030-01-01T12:00:00.100Z',
      round: 1,
      attempt: 1,
      ms: 48,
      status: 200,
      error: null,
      response: 'ok',
    },
  ],
}

type AnswerKeyring = Pick<Keyring, 'unseal'>

const deliveryView = (keyring: AnswerKeyring, event: EventDoc) => {
  const { _id, status, round, attempts, next_attempt_at = null } = event
  return {
    endpoint_id: hasEndpoint(event) ? endpointId(storedEndpointId(event)) : null,
    status,
    round,
    next_attempt_at: isoTimeOrNull(next_attempt_at),
    attempts: attempts.map(({ at, sealed_response, ...attempt }) => ({
      at: isoTime(at),
      ...attempt,
      response: answerText(keyring, _id, sealed_response),
    })),
  }
}

export const eventView = (keyring: AnswerKeyring, event: EventDoc): EventAnswer => {
  const { type, mode, payload, created_at } = event
  return { id: eventId(event), type, mode, payload, created_at: isoTime(created_at), ...deliveryView(keyring, event) }
}

const deliveriesView = (keyring: AnswerKeyring, docs: readonly EventDoc[]): EventDeliveriesAnswer => ({
  ...eventView(keyring, docs[0] as EventDoc),
  deliveries: docs.map(doc => deliveryView(keyring, doc)),
})

const deliveriesExample: EventDeliveriesAnswer = {
  ...eventExample,
  deliveries: [
    {
      endpoint_id: eventExample.endpoint_id,
      status: eventExample.status,
      round: 1,
      next_attempt_at: null,
      attempts: eventExample.attempts,
    },
  ],
}

const NO_ENDPOINT = 'The app has no webhook endpoint.'
const NOT_ASKED_FOR = 'No endpoint of the app asks for events of this type.'

export const eventOperations = [
  operation({
    id: 'listEvents',
    request: 'GET /apps/{id}/events',
    role: 'viewer',
    summary: "List an app's events",
    description: 'Newest first, with every attempt. An event that goes to several endpoints is listed once for each.',
    query,
    answers: [page(eventPage, 'A page of events.', eventExample)],
    csv: 'events',
    handle: async ({ ctx, app, query: { limit, cursor, ...search } }, { store, keyring, readFilteredPage }) => {
      const { endpoint_id } = search
      const endpoint = endpoint_id === undefined ? undefined : refOf(await endpointOfApp(ctx, store, app, endpoint_id))
      const found = createEventSearch(store.docs('events'), app._id, search, endpoint)
      return readFilteredPage(ctx, { ...found, show: event => eventView(keyring, event) }, { limit, cursor })
    },
  }),
  operation({
    id: 'getEvent',
    request: 'GET /events/{id}',
    role: 'viewer',
    summary: 'Look an event up',
    description: 'With every attempt at each endpoint: ask again until a test event has one.',
    answers: [ok(eventWithDeliveries, 'The event.', deliveriesExample)],
    handle: async ({ ctx, params }, { store, keyring }) =>
      deliveriesView(keyring, await findEvent(ctx, store, params.id)),
  }),
  operation({
    id: 'replayEvent',
    request: 'POST /events/{id}/replay',
    role: 'developer',
    summary: 'Send an event again',
    description:
      'With the same id and bytes, in a new round of attempts: to the endpoints it was for, or if none of them is left, to those that ask for its type.',
    body: { schema: replayOneBody.optional(), example: { endpoint_id: 'whk_01k2m8x4e9s7v3hqz5tnw6yb0c' } },
    answers: [ok(eventWithDeliveries, 'The event.', { ...deliveriesExample, status: 'pending', round: 2 })],
    refusals: [conflict(NO_ENDPOINT)],
    keep: createWebhookControl,
    handle: async ({ ctx, params, body }, { store, keyring, withAudit }, control) => {
      await withAudit(ctx, async () => {
        const docs = await findEvent(ctx, store, params.id)
        const { app_id, company_id } = docs[0] as EventDoc
        const only =
          body?.endpoint_id === undefined
            ? undefined
            : await endpointOfApp(ctx, store, { _id: app_id }, body.endpoint_id)
        const endpoints = await findEndpoints(store.docs('webhooks'), app_id)
        if (endpointsToReplay(docs, endpoints, only).length === 0)
          throw httpException(409, endpoints.length === 0 ? NO_ENDPOINT : NOT_ASKED_FOR)
        return {
          action: 'event.replay',
          target: params.id,
          company_id,
          before: null,
          after: only ? { endpoint_id: body?.endpoint_id } : null,
          perform: async () => ((await control.replay(parseEventId(params.id)._id, only)) ? true : null),
        }
      })
      return deliveriesView(keyring, await findEvent(ctx, store, params.id))
    },
  }),
  operation({
    id: 'replayEvents',
    request: 'POST /apps/{id}/events/replay',
    role: 'developer',
    summary: 'Send the events of a time again',
    description: 'Every event from `since` (inclusive) to `until` (exclusive, now without it), oldest first.',
    body: { schema: replayBody, example: { since: '2030-01-01T12:00:00Z' } },
    answers: [ok(replayed, 'How many they are.', { replayed: 17 })],
    refusals: [conflict(NO_ENDPOINT)],
    keep: createWebhookControl,
    handle: async ({ ctx, app, body }, { store, clock, withAudit }, control) => {
      const { since, until = clock.now(), endpoint_id } = body
      const { _id: app_id, company_id } = app
      if (since >= until) throw validationProblem([{ path: 'until', message: 'must be later than since' }])
      if ((await findEndpoints(store.docs('webhooks'), app_id)).length === 0) throw httpException(409, NO_ENDPOINT)
      const only = endpoint_id === undefined ? undefined : await endpointOfApp(ctx, store, app, endpoint_id)
      const replayed = await withAudit(ctx, () => ({
        action: 'events.replay',
        target: app_id,
        company_id,
        before: null,
        after: { since: isoTime(since), until: isoTime(until), ...(only ? { endpoint_id } : {}) },
        perform: () => control.replayRange(app_id, { since, until }, only),
      }))
      return { replayed }
    },
  }),
]

/** Refuses the endpoint of another app, as if there were none. */
async function endpointOfApp(
  request: AdminRequest,
  store: CountersignStore,
  { _id: app_id }: Pick<App, '_id'>,
  id: string,
): Promise<WebhookEndpoint> {
  const { endpoint } = await endpointWithId(request, store, id)
  if (appIdOf(endpoint) !== app_id) throw notFound('webhook endpoint')
  return endpoint
}

/** The documents of an event, one for each endpoint, the oldest endpoint first. */
async function findEvent(request: AdminRequest, store: CountersignStore, id: string): Promise<EventDoc[]> {
  const docs = await findEventDocs(store.docs('events'), parseEventId(id)._id)
  const [first] = docs
  if (!first || eventId(first) !== id || !mayAccessCompany(request, first.company_id)) throw notFound('event')
  return docs
}
