// The webhook of an app and its events as the admin API answers them.
import { z } from 'zod'
import type { PauseReason } from '../../../machines/endpoint.ts'
import { enumOf, keyMode, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import type { EventDoc, EventStatus, WebhookSecretState } from '../../domain/webhooks/documents.ts'
import { pageOf } from '../page-schema.ts'

export const endpointState = z.enum(['active', 'paused']).meta({
  id: 'EndpointState',
  description: 'A paused endpoint is not called; its events are held.',
})

export const pauseReason = enumOf<PauseReason>({ exhausted: true, gone: true, failing: true, operator: true }).meta({
  id: 'PauseReason',
  description:
    '`exhausted`: an event used up its attempts. `gone`: it answered 410. `failing`: too many failures in a row. `operator`: an operator paused it.',
})

const pause = z
  .object({ at: timeSchema('When it was paused.'), reason: pauseReason })
  .meta({ id: 'EndpointPause', description: 'Since when and why an endpoint is paused.' })

const secretState = enumOf<WebhookSecretState>({ current: true, next: true, old: true }).meta({
  id: 'SigningSecretState',
  description: '`next` awaits promotion, `old` signs for another day.',
})

const signingSecret = z
  .object({
    id: z.string().meta({ description: 'Identifies the secret.' }),
    state: secretState,
    fingerprint: z.string().nullable().meta({
      description: 'Equal secrets have equal fingerprints. Null when its data key is no longer configured.',
    }),
    created_at: timeSchema('When it was created.'),
    expires_at: timeSchema('When an old one stops signing; null for the others.').nullable(),
  })
  .meta({ id: 'SigningSecret', description: 'A secret that signs events now, without its value.' })

export const endpoint = z
  .object({
    app_id: z.string().meta({ description: 'The app.' }),
    url: z.string().meta({ description: 'The address that is called.' }),
    status: endpointState,
    failures: z.int().meta({ description: 'Failures since the last success.' }),
    failing_since: timeSchema('When the first of these failures happened.').nullable(),
    last_success_at: timeSchema('Accurate to a minute.').nullable(),
    paused: pause.nullable().meta({ description: 'Null while it is active.' }),
    secrets: z.array(signingSecret).meta({ description: 'The secrets that sign now.' }),
  })
  .meta({ id: 'WebhookEndpoint', description: 'Where the events of an app are sent.' })

const secretValue = z
  .string()
  .meta({ description: 'A signing secret that this request made. It is in this one response only.' })

export const changedEndpoint = endpoint
  .extend({ secret: secretValue.optional() })
  .meta({ id: 'ChangedWebhookEndpoint', description: 'The endpoint, with the secret that this request made.' })

export const rotatedEndpoint = endpoint
  .extend({ secret: secretValue })
  .meta({ id: 'RotatedWebhookEndpoint', description: 'The endpoint, with its new secret.' })

export const testEvent = z
  .object({ event_id: z.string().meta({ description: 'Begins with `evt_test_`.' }) })
  .meta({ id: 'SentTestEvent', description: 'The test event that is being sent.' })

const eventType = enumOf<EventDoc['type']>({
  'otp.approved': true,
  'otp.failed': true,
  'delivery.delivered': true,
  'delivery.failed': true,
  'webhook.test': true,
}).meta({ id: 'WebhookEventType', description: 'The kind of event.' })

const eventStatus = enumOf<EventStatus>({
  unsent: true,
  pending: true,
  held: true,
  delivered: true,
  failed: true,
}).meta({
  id: 'WebhookEventStatus',
  description:
    '`held`: its endpoint is paused. `failed`: its attempts are used up. `unsent`: there was no endpoint when it happened.',
})

const attempt = z
  .object({
    at: timeSchema('When the endpoint was called.'),
    round: z.int().meta({ description: 'Each replay begins a new round.' }),
    attempt: z.int().meta({ description: '1 is the first of its round.' }),
    ms: z.int().nullable().meta({ description: 'How long the call took.' }),
    status: z.int().nullable().meta({ description: 'The HTTP status; null without an answer.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why there is no answer: `timeout`, `unreachable`, `forbidden`, …' }),
    response: z.string().nullable().meta({ description: 'The beginning of the answer, 2 KB at most.' }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One call of the endpoint.' })

export const event = z
  .object({
    id: z.string().meta({ description: 'As receivers know it: `evt_…`, in test mode `evt_test_…`.' }),
    type: eventType,
    mode: keyMode,
    payload: z.record(z.string(), z.string()).meta({ description: 'What the endpoint receives.' }),
    created_at: timeSchema('When it happened.'),
    status: eventStatus,
    round: z.int().meta({ description: 'The current round of attempts.' }),
    next_attempt_at: timeSchema('When the next attempt is due.').nullable(),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first.' }),
  })
  .meta({ id: 'WebhookEvent', description: 'An event of an app and the state of its delivery.' })

export const eventPage = pageOf('WebhookEventPage', event)

export const replayed = z
  .object({ replayed: z.int().meta({ description: 'How many events are sent again.' }) })
  .meta({ id: 'ReplayResult', description: 'The result of a replay.' })

export type EndpointAnswer = z.output<typeof endpoint>
export type EventAnswer = z.output<typeof event>

export const endpointExample: EndpointAnswer = {
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
