// The webhook of an app and its events in the OpenAPI document.
import { z } from 'zod'
import { endpointBody } from '../webhook/endpoint.ts'
import { replayBody } from '../webhook/events.ts'
import { rotateBody } from '../webhook/rotation.ts'
import {
  changedEndpoint,
  type EndpointAnswer,
  type EventAnswer,
  endpoint,
  event,
  eventPage,
  replayed,
  rotatedEndpoint,
  testEvent,
} from '../webhook/schemas.ts'
import { adminOperation, conflict, ok, PAGE, query } from './admin-operation.ts'

const putRequest = endpointBody.meta({ id: 'PutWebhookRequest', description: 'The endpoint of an app.' })
const rotateRequest = rotateBody
  .unwrap()
  .meta({ id: 'RotateSecretRequest', description: '`immediate`: the new secret becomes the current one at once.' })
const replayRequest = replayBody.meta({
  id: 'ReplayEventsRequest',
  description: 'From `since` (inclusive) to `until` (now).',
})

const attentionStatus = z.enum(['failed', 'held']).meta({
  id: 'EventStatusFilter',
  description: "The two states that need an operator's attention.",
})

const example: EndpointAnswer = {
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  url: 'https://shop.example/hooks/countersign',
  status: 'active',
  failures: 0,
  failing_since: null,
  last_success_at: '2030-01-01T12:00:00.000Z',
  paused: null,
  secrets: [
    {
      id: 'k1',
      state: 'current',
      fingerprint: 'hmac:pnN2nQ-x',
      created_at: '2030-01-01T12:00:00.000Z',
      expires_at: null,
    },
  ],
}
const secret = 'whsec_…'

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

const NO_ENDPOINT = conflict('The app has no webhook endpoint.')

export const webhookOperations = [
  adminOperation({
    id: 'getWebhook',
    route: ['get', '/apps/{id}/webhook'],
    summary: "Look an app's webhook up",
    description: 'The endpoint, its state, why it is paused, and fingerprints of its secrets.',
    answers: [ok(endpoint, 'The endpoint.', example)],
  }),
  adminOperation({
    id: 'putWebhook',
    route: ['put', '/apps/{id}/webhook'],
    summary: "Set an app's webhook",
    description:
      'A new endpoint without a secret gets one, which is in this one response only. A given secret becomes the current one.',
    request: { schema: putRequest, example: { url: 'https://shop.example/hooks/countersign' } },
    answers: [
      ok(changedEndpoint, 'It was changed.', example),
      ok(changedEndpoint, 'It was created.', { ...example, secret }, 201),
    ],
  }),
  adminOperation({
    id: 'enableWebhook',
    route: ['post', '/apps/{id}/webhook/enable'],
    summary: 'End a pause',
    description: 'Everything that waits is sent, oldest first: events that were held, and those in retry.',
    answers: [ok(endpoint, 'The endpoint.', example)],
  }),
  adminOperation({
    id: 'testWebhook',
    route: ['post', '/apps/{id}/webhook/test'],
    summary: 'Send a test event',
    description: 'It is sent, signed and repeated like any other event.',
    answers: [ok(testEvent, 'The event that is being sent.', { event_id: 'evt_test_01hf7yat00w51rkfpywnvhmjvq' })],
  }),
  adminOperation({
    id: 'rotateWebhookSecret',
    route: ['post', '/apps/{id}/webhook/rotate'],
    summary: 'Make a new signing secret',
    description:
      'It signs beside the current one until it is promoted. The secret is in this one response only. A second rotation before promoting replaces it.',
    request: { schema: rotateRequest, example: { immediate: false }, required: false },
    answers: [ok(rotatedEndpoint, 'The endpoint, with the new secret.', { ...example, secret })],
  }),
  adminOperation({
    id: 'promoteWebhookSecret',
    route: ['post', '/apps/{id}/webhook/promote'],
    summary: 'Promote the new signing secret',
    description: 'It becomes the current one; the one before it signs for another day.',
    answers: [ok(endpoint, 'The endpoint.', example)],
    refusals: [conflict('There is no new secret to promote.')],
  }),
  adminOperation({
    id: 'listEvents',
    route: ['get', '/apps/{id}/events'],
    summary: "List an app's events",
    description: 'Newest first, with every attempt.',
    parameters: [
      ...PAGE,
      query('otp_id', 'Only the events of this verification.'),
      query('status', 'Only events in this state.', attentionStatus),
    ],
    answers: [ok(eventPage, 'A page of events.', { items: [eventExample], next_cursor: null })],
  }),
  adminOperation({
    id: 'getEvent',
    route: ['get', '/events/{id}'],
    summary: 'Look an event up',
    description: 'With every attempt: ask again until a test event has one.',
    answers: [ok(event, 'The event.', eventExample)],
  }),
  adminOperation({
    id: 'replayEvent',
    route: ['post', '/events/{id}/replay'],
    summary: 'Send an event again',
    description: 'With the same id and bytes, in a new round of attempts.',
    answers: [ok(event, 'The event.', { ...eventExample, status: 'pending', round: 2 })],
    refusals: [NO_ENDPOINT],
  }),
  adminOperation({
    id: 'replayEvents',
    route: ['post', '/apps/{id}/events/replay'],
    summary: 'Send the events of a time again',
    description: 'Every event from `since` (inclusive) to `until` (exclusive, now without it), oldest first.',
    request: { schema: replayRequest, example: { since: '2030-01-01T12:00:00Z' } },
    answers: [ok(replayed, 'How many they are.', { replayed: 17 })],
    refusals: [NO_ENDPOINT],
  }),
]
