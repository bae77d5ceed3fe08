// The webhook of an app and its events as the admin API answers them.
import { z } from 'zod'
import type { PauseReason } from '../../../machines/endpoint.ts'
import { DEFAULT_EVENTS, WEBHOOK_EVENT_TYPES } from '../../../machines/webhook-events.ts'
import { enumOf, keyMode, timeSchema } from '../../domain/openapi/shared-schemas.ts'
import type { EventStatus, PayloadKind, WebhookSecretState } from '../../domain/webhooks/documents.ts'
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

export const eventTypeAskedFor = z
  .enum(WEBHOOK_EVENT_TYPES)
  .meta({ id: 'EndpointEventType', description: 'A type of events that an endpoint can ask for.' })

export const payloadKind = enumOf<PayloadKind>({ minimal: true, full: true }).meta({
  id: 'EndpointPayload',
  description: '`full` adds `channel`, `country`, `reason` and `created_at` to the payloads of verifications.',
})

export const endpoint = z
  .object({
    id: z.string().meta({ description: 'Begins with `whk_`.' }),
    app_id: z.string().meta({ description: 'The app.' }),
    name: z.string().nullable().meta({ description: 'Helps to tell endpoints apart.' }),
    url: z.string().meta({ description: 'The address that is called.' }),
    events: z.array(eventTypeAskedFor).meta({ description: 'The events that it is sent.' }),
    payload: payloadKind,
    status: endpointState,
    failures: z.int().meta({ description: 'Failures since the last success.' }),
    failing_since: timeSchema('When the first of these failures happened.').nullable(),
    last_success_at: timeSchema('Accurate to a minute.').nullable(),
    paused: pause.nullable().meta({ description: 'Null while it is active.' }),
    secrets: z.array(signingSecret).meta({ description: 'The secrets that sign now.' }),
  })
  .meta({ id: 'WebhookEndpoint', description: 'Where events of an app are sent.' })

export const endpointList = pageOf(
  'WebhookEndpointList',
  endpoint
    .extend({ waiting: z.int().meta({ description: 'Events that wait: in its backlog, and for a retry.' }) })
    .meta({ id: 'ListedWebhookEndpoint', description: 'An endpoint, and how many events wait for it.' }),
)

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

export const eventType = z
  .enum([...WEBHOOK_EVENT_TYPES, 'webhook.test'])
  .meta({ id: 'WebhookEventType', description: 'The kind of event.' })

export const eventStatus = enumOf<EventStatus>({
  unsent: true,
  pending: true,
  held: true,
  delivered: true,
  failed: true,
}).meta({
  id: 'WebhookEventStatus',
  description:
    '`held`: its endpoint is paused. `failed`: its attempts are used up. `unsent`: no endpoint asked for it when it happened, or its endpoint was deleted.',
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
    response: z.string().nullable().meta({
      description:
        'The beginning of the answer, 2 KB at most, without recipients, codes and secrets. Null without any, and once the verification is gone.',
    }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One call of the endpoint.' })

const delivery = z
  .object({
    endpoint_id: z.string().nullable().meta({ description: 'The endpoint; null where there was none.' }),
    status: eventStatus,
    round: z.int().meta({ description: 'The current round of attempts.' }),
    next_attempt_at: timeSchema('When the next attempt is due.').nullable(),
    attempts: z.array(attempt).meta({ description: 'The latest attempts, oldest first.' }),
  })
  .meta({ id: 'WebhookEventDelivery', description: 'The state of an event at one endpoint.' })

export const event = z
  .object({
    id: z.string().meta({ description: 'As receivers know it: `evt_…`, in test mode `evt_test_…`.' }),
    type: eventType,
    mode: keyMode,
    payload: z.record(z.string(), z.string()).meta({ description: 'What the endpoint receives.' }),
    created_at: timeSchema('When it happened.'),
    ...delivery.shape,
  })
  .meta({ id: 'WebhookEvent', description: 'An event of an app and the state of its delivery to one endpoint.' })

export const eventWithDeliveries = event
  .extend({ deliveries: z.array(delivery).meta({ description: 'One for each endpoint, the oldest endpoint first.' }) })
  .meta({
    id: 'WebhookEventDeliveries',
    description:
      'An event and its state at every endpoint. The members outside `deliveries` are those of the oldest endpoint.',
  })

export const eventPage = pageOf('WebhookEventPage', event)

export const replayed = z
  .object({ replayed: z.int().meta({ description: 'How many events are sent again.' }) })
  .meta({ id: 'ReplayResult', description: 'The result of a replay.' })

export type EndpointAnswer = z.output<typeof endpoint>
export type EventAnswer = z.output<typeof event>
export type EventDeliveriesAnswer = z.output<typeof eventWithDeliveries>

export const endpointExample: EndpointAnswer = {
  id: 'whk_01k2m8x4e9s7v3hqz5tnw6yb0c',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: null,
  url: 'https://shop.example/hooks/countersign',
  events: [...DEFAULT_EVENTS],
  payload: 'minimal',
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
