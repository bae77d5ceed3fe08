// The webhook events of an app with their attempts, newest first, and sending them again.
import { z } from 'zod'
import { httpException } from '../../../infra/http/problem.ts'
import { isoTime, isoTimeOrNull } from '../../../infra/iso-time.ts'
import type { CountersignStore } from '../../domain/collections.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'
import { eventId, parseEventId } from '../../domain/webhooks/event-ids.ts'
import type { AdminRequest } from '../access.ts'
import { conflict, ok, page } from '../answers.ts'
import { operation } from '../operation.ts'
import { pageFields } from '../pages.ts'
import { getOr404, notFound, validationProblem } from '../request-input.ts'
import { createWebhookControl } from './control.ts'
import { MAX_ID_TIME } from './event-replay.ts'
import { type EventAnswer, event, eventPage, replayed } from './schemas.ts'

const query = z.strictObject({
  ...pageFields,
  otp_id: z.string().optional().meta({ description: 'Only the events of this verification.' }),
  /** Only these two have an index: nearly all events are in the other states. */
  status: z
    .enum(['failed', 'held'])
    .meta({ id: 'EventStatusFilter', description: "The two states that need an operator's attention." })
    .optional()
    .meta({ description: 'Only events in this state.' }),
})

const TIME_MESSAGE = 'must be a time, such as "2030-01-31T12:00:00Z"'
/** ISO 8601, as times are shown, or epoch milliseconds, as they are stored. */
const timeSchema = z.union(
  [
    z.iso.datetime({ offset: true }).transform(Date.parse),
    z.number().refine(at => Number.isInteger(at) && at >= 0 && at <= MAX_ID_TIME, TIME_MESSAGE),
  ],
  { error: ({ input }) => (input === undefined ? 'is required' : TIME_MESSAGE) },
)
const replayBody = z
  .strictObject({ since: timeSchema, until: timeSchema.optional() })
  .meta({ id: 'ReplayEventsRequest', description: 'From `since` (inclusive) to `until` (now).' })

const eventExample: EventAnswer = {
  id: 'evt_01hf7yat00w51rkfpywnvhmjvq',
  type: 'otp.approved',
  mode: 'live',
  payload: { otp_id: 'otp_01hf7y9jy02c5j477k4p3pnres', status: 'approved' },
  created_at: '2030-01-01T12:00:00.000Z',
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

const eventView = (event: EventDoc): EventAnswer => {
  const { type, mode, payload, created_at, status, round, attempts, next_attempt_at = null } = event
  return {
    id: eventId(event),
    type,
    mode,
    payload,
    created_at: isoTime(created_at),
    status,
    round,
    next_attempt_at: isoTimeOrNull(next_attempt_at),
    attempts: attempts.map(({ at, ...attempt }) => ({ at: isoTime(at), ...attempt })),
  }
}

const NO_ENDPOINT = 'The app has no webhook endpoint.'

export const eventOperations = [
  operation({
    id: 'listEvents',
    route: 'GET /apps/{id}/events',
    role: 'viewer',
    summary: "List an app's events",
    description: 'Newest first, with every attempt.',
    query,
    answers: [page(eventPage, 'A page of events.', eventExample)],
    handle: ({ ctx, app, query: { otp_id, status, ...pageOptions } }, { store, readPage }) => {
      const filter = {
        app_id: app._id,
        ...(otp_id === undefined ? {} : { 'payload.otp_id': otp_id }),
        ...(status === undefined ? {} : { status }),
      }
      return readPage(ctx, { docs: store.docs('events'), filter, newestFirst: true, show: eventView }, pageOptions)
    },
  }),
  operation({
    id: 'getEvent',
    route: 'GET /events/{id}',
    role: 'viewer',
    summary: 'Look an event up',
    description: 'With every attempt: ask again until a test event has one.',
    answers: [ok(event, 'The event.', eventExample)],
    handle: async ({ ctx, params }, { store }) => eventView(await findEvent(ctx, store, params.id)),
  }),
  operation({
    id: 'replayEvent',
    route: 'POST /events/{id}/replay',
    role: 'developer',
    summary: 'Send an event again',
    description: 'With the same id and bytes, in a new round of attempts.',
    answers: [ok(event, 'The event.', { ...eventExample, status: 'pending', round: 2 })],
    refusals: [conflict(NO_ENDPOINT)],
    keep: createWebhookControl,
    handle: async ({ ctx, params }, { store, withAudit }, control) => {
      await withAudit(ctx, async () => {
        const found = await findEvent(ctx, store, params.id)
        const { _id, app_id, company_id } = found
        await requireEndpoint(store, app_id)
        return {
          action: 'event.replay',
          target: eventId(found),
          company_id,
          before: null,
          after: null,
          perform: async () => ((await control.replay(_id)) ? _id : null),
        }
      })
      return eventView(await findEvent(ctx, store, params.id))
    },
  }),
  operation({
    id: 'replayEvents',
    route: 'POST /apps/{id}/events/replay',
    role: 'developer',
    summary: 'Send the events of a time again',
    description: 'Every event from `since` (inclusive) to `until` (exclusive, now without it), oldest first.',
    body: { schema: replayBody, example: { since: '2030-01-01T12:00:00Z' } },
    answers: [ok(replayed, 'How many they are.', { replayed: 17 })],
    refusals: [conflict(NO_ENDPOINT)],
    keep: createWebhookControl,
    handle: async ({ ctx, app, body }, { store, clock, withAudit }, control) => {
      const { since, until = clock.now() } = body
      const { _id: app_id, company_id } = app
      if (since >= until) throw validationProblem([{ path: 'until', message: 'must be later than since' }])
      await requireEndpoint(store, app_id)
      const replayed = await withAudit(ctx, () => ({
        action: 'events.replay',
        target: app_id,
        company_id,
        before: null,
        after: { since: isoTime(since), until: isoTime(until) },
        perform: () => control.replayRange(app_id, { since, until }),
      }))
      return { replayed }
    },
  }),
]

async function requireEndpoint(store: CountersignStore, app_id: string): Promise<void> {
  if (!(await store.docs('webhooks').get([app_id])).has(app_id)) throw httpException(409, NO_ENDPOINT)
}

async function findEvent(request: AdminRequest, store: CountersignStore, id: string): Promise<EventDoc> {
  const { _id, mode } = parseEventId(id)
  const found = await getOr404(request, store.docs('events'), _id, 'event')
  if (found.mode !== mode) throw notFound('event')
  return found
}
