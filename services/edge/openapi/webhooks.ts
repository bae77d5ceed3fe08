// The events that Countersign sends to the endpoints of an app. docs/webhooks.md says how to check their signature.
import { z } from 'zod'
import type { ApiParameter, ApiWebhook } from '../../../infra/openapi/operation.ts'
import type { OpsEventType, WebhookEvent, WebhookEventType } from '../../../machines/webhook-events.ts'
import type { OpsPayload } from '../../domain/webhooks/ops-events.ts'

const id = z.string().meta({
  description:
    'The same at every attempt: handle each event once. The id of a test event begins with `evt_test_`, that of a live event never does.',
})
const otp_id = z.string().meta({ description: 'The verification.' })
const delivery_id = z.string().meta({ description: 'The message.' })

/** What an endpoint with the payload `full` receives beside the others. */
const fullMembers = {
  channel: z.string().optional().meta({
    description: 'Only in `full` payloads: the channel of the message, or of the verification when it ended.',
  }),
  country: z
    .string()
    .optional()
    .meta({ description: 'Only in `full` payloads: of the number, ISO 3166-1 alpha-2. An address has none.' }),
  reason: z
    .string()
    .optional()
    .meta({ description: 'Only in `full` payloads: why a message failed, where that is known.' }),
  created_at: z.string().optional().meta({ description: 'Only in `full` payloads: when it happened, ISO 8601.' }),
  metadata: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Only in `full` payloads: what the send gave, until the person is erased.' }),
}

const header = (name: string, description: string, example: string): ApiParameter => ({
  name,
  in: 'header',
  description,
  schema: z.string(),
  example,
})

const EVENT_ID = 'evt_01hf7yat00w51rkfpywnvhmjvq'

const HEADERS: readonly ApiParameter[] = [
  header(
    'X-Webhook-Timestamp',
    'When this attempt was signed, in seconds. Refuse one older than five minutes.',
    '1700000000',
  ),
  header(
    'X-Webhook-Signature',
    'Hex HMAC-SHA256 of `{X-Webhook-Timestamp}.{raw body}`, keyed with the signing secret as it stands, `whsec_` included. Compare it in constant time.',
    'e6752630a0c6b94e1f6c6454e0e87ce71312fac006ac69c7b0f68be9f014f2bc',
  ),
  header('X-Webhook-Mode', '`live` or `test`. It is not signed: decide by the `id` in the body.', 'live'),
  header('webhook-id', 'Standard Webhooks: the `id` of the event.', EVENT_ID),
  header('webhook-timestamp', 'Standard Webhooks: the same as X-Webhook-Timestamp.', '1700000000'),
  header(
    'webhook-signature',
    'Standard Webhooks: one signature (`v1,…`) for each secret that signs now, separated by spaces.',
    'v1,VTYUo0E98YPf9dZGpNtVjAhnEZgRwZBEAQVgDUFYfiQ=',
  ),
]

const RETRIES =
  'Answer 2xx soon. Any other status counts as a failure, and the event is sent again with the same `id` and the same bytes.'

const ASKED_FOR = 'Sent only to endpoints that ask for it.'

type PayloadOf<Type extends EventType> = Type extends WebhookEvent['event']
  ? Extract<WebhookEvent, { event: Type }>['payload']
  : Type extends OpsEventType
    ? OpsPayload
    : { app_id: string }

/** zod makes no difference between a member that is absent and one that is undefined. */
type MayBeUndefined<Payload> = { [Member in keyof Payload]: Payload[Member] | undefined }

interface Described<Type extends EventType> {
  summary: string
  /** When it happens. */
  description: string
  payload: z.ZodType<MayBeUndefined<PayloadOf<Type>>>
  /** An example of the payload. */
  example: Record<string, string>
}

type EventType = WebhookEventType | 'webhook.test'

/** `OtpApproved` of `otp.approved`. */
const pascal = (type: EventType): string =>
  type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())

const otpEnded = <Type extends `otp.${string}` & WebhookEvent['event']>(type: Type) => {
  const status = type.slice('otp.'.length) as PayloadOf<Type>['status']
  const members = { otp_id, status: z.literal(status).meta({ description: 'The state of the verification.' }) }
  return {
    payload: z
      .object({ ...members, ...fullMembers })
      .meta({ id: `${pascal(type)}Payload`, description: 'The verification that ended.' }),
    example: { otp_id: 'otp_01hf7y9jy02c5j477k4p3pnres', status },
  }
}

const messageEnded = <Type extends `delivery.${string}` & WebhookEvent['event']>(type: Type) => {
  const status = type.slice('delivery.'.length) as PayloadOf<Type>['status']
  const members = {
    otp_id: otp_id.meta({ description: 'The verification or the message.' }),
    message_id: z.string().optional().meta({
      description: 'Of a code that your backend made (`POST /messages`): the same as `otp_id`. Absent otherwise.',
    }),
    delivery_id,
    status: z.literal(status).meta({ description: 'The state of the message.' }),
  }
  return {
    payload: z
      .object({ ...members, ...fullMembers })
      .meta({ id: `${pascal(type)}Payload`, description: 'The message that ended.' }),
    example: { otp_id: 'otp_01hf7y9jy02c5j477k4p3pnres', delivery_id: 'dlv_01hf7y9jy1fcg3v0qkq5w2zj8m', status },
  }
}

const incident = (type: OpsEventType, subject: { description: string; example: string; ofApp: boolean }) => ({
  payload: z
    .object({
      company_id: z.string().meta({ description: 'The company.' }),
      app_id: z.string().optional().meta({ description: 'The app. Absent where it is about the company.' }),
      subject: z.string().meta({ description: subject.description }),
      at: z.string().meta({ description: 'When it began, ISO 8601.' }),
    })
    .meta({ id: `${pascal(type)}Payload`, description: 'What needs an operator.' }),
  example: {
    company_id: 'cmp_01hf7y9jy0a1b2c3d4e5f6g7h8',
    ...(subject.ofApp ? { app_id: 'app_01hf7y9jy0c3w8q1x5r2m7k4vd' } : {}),
    subject: subject.example,
    at: '2023-11-14T22:13:20.000Z',
  },
})

const EVENTS: { [Type in EventType]: Described<Type> } = {
  'otp.approved': {
    summary: 'A verification was approved',
    description: "The code was right, or the user's WhatsApp message approved it.",
    ...otpEnded('otp.approved'),
  },
  'otp.failed': {
    summary: 'A verification failed',
    description: 'The attempts were used up without the right code.',
    ...otpEnded('otp.failed'),
  },
  'delivery.delivered': {
    summary: 'A message arrived',
    description: 'A receipt says that a message arrived.',
    ...messageEnded('delivery.delivered'),
  },
  'delivery.failed': {
    summary: 'A message did not arrive',
    description: 'A message did not arrive.',
    ...messageEnded('delivery.failed'),
  },
  'otp.expired': {
    summary: 'A verification expired',
    description: `Its time was up. ${ASKED_FOR}`,
    ...otpEnded('otp.expired'),
  },
  'otp.canceled': {
    summary: 'A verification was canceled',
    description: `Your backend canceled it, or a person did. ${ASKED_FOR}`,
    ...otpEnded('otp.canceled'),
  },
  'ops.balance_low': {
    summary: 'The balance is low',
    description: `The balance of the company is below its threshold. Sent in each of its apps. ${ASKED_FOR}`,
    ...incident('ops.balance_low', {
      description: 'The id of the company.',
      example: 'cmp_01hf7y9jy0a1b2c3d4e5f6g7h8',
      ofApp: false,
    }),
  },
  'ops.endpoint_paused': {
    summary: 'An endpoint was paused',
    description: `An endpoint of the app was paused because it failed for too long. ${ASKED_FOR}`,
    ...incident('ops.endpoint_paused', {
      description: 'The id of the endpoint.',
      example: 'whk_01hf7y9jy0c3w8q1x5r2m7k4vd',
      ofApp: true,
    }),
  },
  'ops.provider_open': {
    summary: 'A provider fails',
    description: `The circuit breaker of a provider opened. ${ASKED_FOR}`,
    ...incident('ops.provider_open', { description: 'The name of the provider.', example: 'twilio-main', ofApp: true }),
  },
  'ops.provider_silent': {
    summary: 'A provider is silent',
    description: `A provider accepts messages, and hardly anyone enters their codes. ${ASKED_FOR}`,
    ...incident('ops.provider_silent', {
      description: 'The name of the provider.',
      example: 'twilio-main',
      ofApp: true,
    }),
  },
  'ops.retention_shortened': {
    summary: 'Verifications will be kept for a shorter time',
    description: `An owner or an operator made \`retention_days\` of the app shorter. It is in force a day later, and can be undone until then. ${ASKED_FOR}`,
    ...incident('ops.retention_shortened', {
      description: 'The id of the app.',
      example: 'app_01hf7y9jy0c3w8q1x5r2m7k4vd',
      ofApp: true,
    }),
  },
  'webhook.test': {
    summary: 'A test event',
    description: 'An operator asked for a test event.',
    payload: z
      .object({ app_id: z.string().meta({ description: 'The app whose endpoint is tested.' }) })
      .meta({ id: 'WebhookTestPayload', description: 'It says nothing about a person.' }),
    example: { app_id: 'app_01hf7y9jy0c3w8q1x5r2m7k4vd' },
  },
}

export const WEBHOOKS: readonly ApiWebhook[] = Object.entries(EVENTS).map(([name, event]) => {
  const type = name as EventType
  return {
    name,
    id: `on${pascal(type)}`,
    summary: event.summary,
    description: `${event.description} ${RETRIES}`,
    headers: HEADERS,
    schema: z
      .object({ id, type: z.literal(type).meta({ description: 'The kind of event.' }), payload: event.payload })
      .meta({ id: `${pascal(type)}Event`, description: `The body of the event \`${type}\`.` }),
    example: {
      id: type === 'webhook.test' ? EVENT_ID.replace('evt_', 'evt_test_') : EVENT_ID,
      type,
      payload: event.example,
    },
  }
})
