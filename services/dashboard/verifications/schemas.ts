// A verification and its history as the admin API answers them.
import { z } from 'zod'
import type { Delivery } from '../../../machines/otp.ts'
import {
  completion,
  deliveryStatus,
  enumOf,
  failureReason,
  keyKind,
  keyMode,
  lateReceipt,
  savedStatus,
  timeSchema,
} from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'
import { pageOf } from '../page-schema.ts'

const caller = z
  .object({ key_id: z.string().meta({ description: 'The API key.' }), kind: keyKind })
  .meta({ id: 'KeyCaller', description: 'The API key that made a call.' })

const exchange = z
  .object({
    key_id: z.string().meta({ description: 'The API key that exchanged the token.' }),
    at: timeSchema('When it was exchanged.'),
  })
  .meta({ id: 'TokenExchange', description: 'The exchange of a verification token.' })

const deliveryRecord = z
  .object({
    delivery_id: z.string().meta({ description: 'Identifies the message.' }),
    channel: channel.meta({ description: 'The channel of the message.' }),
    generation: z.int().meta({ description: 'The generation of the code in it.' }),
    status: deliveryStatus,
    created_at: timeSchema('When it was accepted.'),
    updated_at: timeSchema('When its status last changed.'),
    micros: z.int().meta({ description: 'The price that was paid, in micro-units.' }),
    provider: z.string().optional().meta({ description: 'The provider that took the message, once one did.' }),
    reason: failureReason.optional().meta({ description: 'Why it failed.' }),
    late_receipt: lateReceipt.optional(),
    charge: enumOf<NonNullable<Delivery['charge']>>({ kept: true, again: true }).optional().meta({
      id: 'DeliveryCharge',
      description:
        'Why a message that failed is paid: its code was entered, a receipt says that it arrived, or a provider may have got it before it was no longer wanted. `kept`: it was not refunded. `again`: it was refunded, and charged again.',
    }),
    asks_contact: z.boolean().optional().meta({
      description: 'True for a message without a code, which asks a WhatsApp user who hides their number for it.',
    }),
  })
  .meta({ id: 'DeliveryRecord', description: 'One message, as an operator sees it.' })

const joinedId = z
  .object({
    otp_id: z.string().meta({ description: 'The id.' }),
    joined_at: timeSchema('When its send joined.'),
    by: caller.meta({ description: 'The API key of the send.' }),
    status: savedStatus.meta({ description: 'Its own state now.' }),
    wrong_codes: z.int().meta({ description: 'Wrong codes under this id.' }),
    metadata: z.record(z.string(), z.string()).nullable().meta({
      description: 'As given on its send; null without any, and when its data key is no longer configured.',
    }),
  })
  .meta({ id: 'JoinedId', description: 'The id of a later send for the recipient, which joined the verification.' })

const members = {
  otp_id: z.string().meta({ description: 'Identifies the verification; of a message, its `message_id`.' }),
  kind: enumOf({ verification: true, message: true }).meta({
    id: 'RecordKind',
    description: '`message`: the delivery of a code that the caller made. There is nothing to verify.',
  }),
  status: savedStatus,
  channel: channel.meta({ description: 'The channel the verification is on.' }),
  masked_recipient: z.string().meta({ description: 'The recipient, masked.' }),
  completion,
  created_at: timeSchema('When it was sent first.'),
  expires_at: timeSchema('When its code stops being valid.'),
  verified_at: timeSchema('When it was approved.').nullable(),
  attempts_left: z.int().min(0).meta({ description: 'Wrong codes that may still be entered.' }),
  resend_at: timeSchema('When the cooldown ends; null when no resend is left.').nullable(),
  deliveries: z.array(deliveryRecord).meta({ description: 'Its messages, oldest first.' }),
  action_url: z.string().nullable().meta({ description: 'The wa.me link; null except in link modes.' }),
  company_id: z.string().meta({ description: 'The company it belongs to.' }),
  app_id: z.string().meta({ description: 'The app it belongs to.' }),
  mode: keyMode,
  started_by: caller.meta({ description: 'The API key that started it.' }),
  country: z.string().nullable().meta({ description: 'The country of a phone number.' }),
  locale: z.string().meta({ description: 'The language of its messages.' }),
  order: z.array(channel).meta({ description: 'Its routing order.' }),
  sends: z.int().meta({ description: 'Sends and resends so far.' }),
  generation: z.int().meta({ description: 'A new generation has a new code.' }),
  wrong_codes: z.int().meta({ description: 'Wrong codes so far, under all its ids.' }),
  joined: z.array(joinedId).meta({
    description: 'The ids of later sends that joined it, by `reuse_pending` or the API of Twilio; often none.',
  }),
  approved_by: caller.nullable().meta({ description: "Null unless approved by a key; a user's message has none." }),
  exchange: exchange.nullable().meta({ description: 'Null until its token was exchanged.' }),
  metadata: z.record(z.string(), z.string()).nullable().meta({
    description: 'As given on send; null without any, and when its data key is no longer configured.',
  }),
  cost_micros: z.int().meta({ description: 'What its messages cost, without refunds, in micro-units.' }),
  request_id: z.string().nullable().meta({
    description: 'The request that started it, as in the log; null where it is not known.',
  }),
}

export const verificationRecord = z
  .object(members)
  .meta({ id: 'VerificationRecord', description: 'A verification as an operator sees it.' })

export const verificationPage = pageOf('VerificationPage', verificationRecord)

const callResult = enumOf<AttemptResult>({ accepted: true, refused: true, failed: true, unknown: true }).meta({
  id: 'ProviderCallResult',
  description: "`refused`: the recipient's fault. `failed`: the provider's. `unknown`: it may have been sent.",
})

export const timelineEntry = z
  .object({
    at: timeSchema('When it happened.'),
    happened: z.string().meta({
      description:
        '`otp.started`, `otp.joined`, `otp.approved`, `otp.failed`, `otp.expired`, `token.exchanged`, `delivery.queued`, `delivery.sent`, `delivery.delivered`, `delivery.failed`, `delivery.arrived_late`, `provider.called`, `providers.exhausted`, `event.recorded`, `event.sent`.',
    }),
    by: caller.nullable().optional().meta({ description: 'The API key; null when the user approved by a message.' }),
    otp_id: z.string().optional().meta({ description: 'Which of its ids, where that is not the first.' }),
    key_id: z.string().optional().meta({ description: 'The API key that exchanged the token.' }),
    channel: channel.optional().meta({ description: 'The channel of the message.' }),
    delivery_id: z.string().optional().meta({ description: 'The message.' }),
    generation: z.int().optional().meta({ description: 'The generation of the code in it.' }),
    provider: z.string().nullable().optional().meta({ description: 'The provider; null when none took the message.' }),
    because: z.string().optional().meta({
      description:
        'Why the provider came first, or from which one it took over: for a live message that a provider took, and for the first call of one that did not take it.',
    }),
    round: z.int().optional().meta({ description: 'Providers and endpoints are called in rounds.' }),
    call: z.int().optional().meta({ description: 'Which call of this provider it is in its round.' }),
    result: callResult.nullable().optional().meta({ description: 'How the call ended; null while it is under way.' }),
    reference: z.string().nullable().optional().meta({ description: "The vendor's id of the message." }),
    http_status: z.int().nullable().optional().meta({ description: "The HTTP status of the vendor's answer." }),
    vendor_code: z.string().nullable().optional().meta({ description: "The vendor's error code." }),
    vendor_text: z.string().nullable().optional().meta({
      description: "The vendor's words, without numbers, addresses and codes, 200 characters at most.",
    }),
    ms: z.int().nullable().optional().meta({ description: 'How long the call took.' }),
    reason: failureReason.nullable().optional().meta({ description: 'Why the message failed.' }),
    event_id: z.string().optional().meta({ description: 'The webhook event.' }),
    endpoint_id: z.string().optional().meta({ description: 'Its endpoint, where that is not the first of the app.' }),
    type: z.string().optional().meta({ description: 'The type of the webhook event.' }),
    attempt: z.int().optional().meta({ description: '1 is the first of its round.' }),
    status: z.union([z.string(), z.int()]).nullable().optional().meta({
      description: 'The state of an event, or the HTTP status that its endpoint answered.',
    }),
    error: z.string().nullable().optional().meta({ description: 'Why the endpoint gave no answer.' }),
  })
  .meta({
    id: 'TimelineEntry',
    description: 'One thing that happened. `happened` decides which other members there are.',
  })

export const verificationHistory = z
  .object({
    ...members,
    timeline: z.array(timelineEntry).meta({ description: 'What happened, in order; a cancel has no entry.' }),
  })
  .meta({ id: 'VerificationHistory', description: 'A verification with its timeline.' })

export type VerificationAnswer = z.output<typeof verificationRecord>
export type TimelineEntryAnswer = z.output<typeof timelineEntry>
