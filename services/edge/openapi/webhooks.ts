// The events that Countersign sends to the endpoints of an app. docs/webhooks.md says how to check their signature.
import { z } from 'zod'
import type { ApiParameter, ApiWebhook } from '../../../infra/openapi/operation.ts'
import type { OtpEnd, WebhookEvent } from '../../../machines/webhook-events.ts'

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

const otpPayload = <Status extends OtpEnd>(status: Status, name: string) =>
  z
    .object({
      otp_id,
      status: z.literal(status).meta({ description: 'The state of the verification.' }),
      ...fullMembers,
    })
    .meta({ id: name, description: 'The verification that ended.' })

const deliveryPayload = <Status extends 'delivered' | 'failed'>(status: Status, name: string) =>
  z
    .object({
      otp_id: otp_id.meta({ description: 'The verification or the message.' }),
      message_id: z.string().optional().meta({
        description: 'Of a code that your backend made (`POST /messages`): the same as `otp_id`. Absent otherwise.',
      }),
      delivery_id,
      status: z.literal(status).meta({ description: 'The state of the message.' }),
      ...fullMembers,
    })
    .meta({ id: name, description: 'The message that ended.' })

type PayloadOf<Type extends WebhookEvent['event']> = Extract<WebhookEvent, { event: Type }>['payload']
/** zod makes no difference between a member that is absent and one that is undefined. */
type DeliveryPayloadOf<Type extends `delivery.${string}` & WebhookEvent['event']> = Omit<
  PayloadOf<Type>,
  'message_id'
> & {
  message_id?: string | undefined
}

const eventOf = <Type extends string, Payload extends z.ZodType>(type: Type, payload: Payload, name: string) =>
  z
    .object({ id, type: z.literal(type).meta({ description: 'The kind of event.' }), payload })
    .meta({ id: name, description: `The body of the event \`${type}\`.` })

const approved = eventOf(
  'otp.approved',
  otpPayload('approved', 'OtpApprovedPayload') satisfies z.ZodType<PayloadOf<'otp.approved'>>,
  'OtpApprovedEvent',
)
const failed = eventOf(
  'otp.failed',
  otpPayload('failed', 'OtpFailedPayload') satisfies z.ZodType<PayloadOf<'otp.failed'>>,
  'OtpFailedEvent',
)
const expired = eventOf(
  'otp.expired',
  otpPayload('expired', 'OtpExpiredPayload') satisfies z.ZodType<PayloadOf<'otp.expired'>>,
  'OtpExpiredEvent',
)
const canceled = eventOf(
  'otp.canceled',
  otpPayload('canceled', 'OtpCanceledPayload') satisfies z.ZodType<PayloadOf<'otp.canceled'>>,
  'OtpCanceledEvent',
)
const delivered = eventOf(
  'delivery.delivered',
  deliveryPayload('delivered', 'DeliveryDeliveredPayload') satisfies z.ZodType<DeliveryPayloadOf<'delivery.delivered'>>,
  'DeliveryDeliveredEvent',
)
const notDelivered = eventOf(
  'delivery.failed',
  deliveryPayload('failed', 'DeliveryFailedPayload') satisfies z.ZodType<DeliveryPayloadOf<'delivery.failed'>>,
  'DeliveryFailedEvent',
)
const test = eventOf(
  'webhook.test',
  z
    .object({ app_id: z.string().meta({ description: 'The app whose endpoint is tested.' }) })
    .meta({ id: 'WebhookTestPayload', description: 'It says nothing about a person.' }),
  'WebhookTestEvent',
)

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

const otp = 'otp_01hf7y9jy02c5j477k4p3pnres'
const delivery = 'dlv_01hf7y9jy1fcg3v0qkq5w2zj8m'

const RETRIES =
  'Answer 2xx soon. Any other status counts as a failure, and the event is sent again with the same `id` and the same bytes.'

const ASKED_FOR = 'Sent only to endpoints that ask for it.'

export const WEBHOOKS: readonly ApiWebhook[] = [
  {
    name: 'otp.approved',
    id: 'onOtpApproved',
    summary: 'A verification was approved',
    description: `The code was right, or the user's WhatsApp message approved it. ${RETRIES}`,
    headers: HEADERS,
    schema: approved,
    example: { id: EVENT_ID, type: 'otp.approved', payload: { otp_id: otp, status: 'approved' } },
  },
  {
    name: 'otp.failed',
    id: 'onOtpFailed',
    summary: 'A verification failed',
    description: `The attempts were used up without the right code. ${RETRIES}`,
    headers: HEADERS,
    schema: failed,
    example: { id: EVENT_ID, type: 'otp.failed', payload: { otp_id: otp, status: 'failed' } },
  },
  {
    name: 'delivery.delivered',
    id: 'onDeliveryDelivered',
    summary: 'A message arrived',
    description: `A receipt says that a message arrived. ${RETRIES}`,
    headers: HEADERS,
    schema: delivered,
    example: {
      id: EVENT_ID,
      type: 'delivery.delivered',
      payload: { otp_id: otp, delivery_id: delivery, status: 'delivered' },
    },
  },
  {
    name: 'delivery.failed',
    id: 'onDeliveryFailed',
    summary: 'A message did not arrive',
    description: `A message did not arrive. ${RETRIES}`,
    headers: HEADERS,
    schema: notDelivered,
    example: {
      id: EVENT_ID,
      type: 'delivery.failed',
      payload: { otp_id: otp, delivery_id: delivery, status: 'failed' },
    },
  },
  {
    name: 'otp.expired',
    id: 'onOtpExpired',
    summary: 'A verification expired',
    description: `Its time was up. ${ASKED_FOR} ${RETRIES}`,
    headers: HEADERS,
    schema: expired,
    example: { id: EVENT_ID, type: 'otp.expired', payload: { otp_id: otp, status: 'expired' } },
  },
  {
    name: 'otp.canceled',
    id: 'onOtpCanceled',
    summary: 'A verification was canceled',
    description: `Your backend canceled it. ${ASKED_FOR} ${RETRIES}`,
    headers: HEADERS,
    schema: canceled,
    example: { id: EVENT_ID, type: 'otp.canceled', payload: { otp_id: otp, status: 'canceled' } },
  },
  {
    name: 'webhook.test',
    id: 'onWebhookTest',
    summary: 'A test event',
    description: `An operator asked for a test event. ${RETRIES}`,
    headers: HEADERS,
    schema: test,
    example: {
      id: 'evt_test_01hf7yat00w51rkfpywnvhmjvq',
      type: 'webhook.test',
      payload: { app_id: 'app_01hf7y9jy0c3w8q1x5r2m7k4vd' },
    },
  },
]
