// The bodies of responses, as schemas. The types of the handlers and the OpenAPI document come from them.
import { z } from 'zod'
import {
  completion,
  deliveryStatus,
  failureReason,
  lateReceipt,
  messageStatus,
  otpStatus,
  recipientType,
  timeSchema,
} from '../domain/openapi/shared-schemas.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'

const otpId = z.string().meta({ description: 'Identifies the verification.' })
const attemptsLeft = z.int().min(0).meta({ description: 'Wrong codes that may still be entered.' })

export const verification = z
  .object({
    otp_id: otpId,
    status: otpStatus,
    channel: channel.meta({ description: 'The channel the verification is on.' }),
    masked_recipient: z.string().meta({ description: 'Safe to log or display.' }),
    action_url: z.string().nullable().meta({
      description: 'A wa.me link for the user to open. Null except in the two WhatsApp link modes.',
    }),
    completion,
  })
  .meta({ id: 'Verification', description: 'A verification.' })

export const delivery = z
  .object({
    delivery_id: z.string().meta({ description: 'Identifies the message.' }),
    channel: channel.meta({ description: 'The channel the message takes.' }),
    status: deliveryStatus,
    reason: failureReason.optional().meta({ description: 'Why it failed; present where `status` is `failed`.' }),
    late_receipt: lateReceipt.optional(),
    created_at: timeSchema('When it was accepted.'),
    updated_at: timeSchema('When its status last changed.'),
  })
  .meta({ id: 'Delivery', description: 'One message on its way to the recipient.' })

export const verificationDetails = verification
  .extend({
    created_at: timeSchema('When it was sent first.'),
    expires_at: timeSchema('When its code stops being valid.'),
    verified_at: timeSchema('When it was approved.').nullable(),
    attempts_left: attemptsLeft,
    resend_at: timeSchema('When the cooldown ends; null when no resend is left.').nullable(),
    deliveries: z.array(delivery).optional().meta({ description: 'Shown to server keys only.' }),
    metadata: z.record(z.string(), z.string()).nullable().optional().meta({
      description:
        'As given on send; absent without any. Shown to server keys only. Null when its data key is no longer configured.',
    }),
  })
  .meta({ id: 'VerificationDetails', description: 'A verification and how far it got.' })

const message = z.object({
  message_id: z.string().meta({ description: 'Identifies the message.' }),
  status: messageStatus,
  channel: channel.meta({ description: 'The channel the message is on.' }),
  masked_recipient: z.string().meta({ description: 'Safe to log or display.' }),
})

export const acceptedMessage = message.meta({
  id: 'Message',
  description: 'The delivery of a code that the caller made.',
})

export const messageDetails = message
  .extend({
    created_at: timeSchema('When it was accepted.'),
    expires_at: timeSchema('When it is no longer sent.'),
    deliveries: z.array(delivery).meta({ description: 'Its deliveries, oldest first.' }),
  })
  .meta({ id: 'MessageDetails', description: 'A message and how far it got.' })

export const verified = z
  .object({
    otp_id: otpId,
    status: otpStatus,
    matched: z.boolean().meta({ description: 'Whether the code was right. On a device it is only a hint.' }),
    attempts_left: attemptsLeft,
    verification_token: z.string().nullable().meta({
      description: 'Given when a publishable key verified a right code: your backend exchanges it.',
    }),
  })
  .meta({ id: 'VerifyResult', description: 'What became of a code. A wrong one is a state, not an error.' })

export const exchanged = z
  .object({
    otp_id: otpId,
    recipient: z.string().meta({ description: 'The verified recipient in full.' }),
    recipient_type: recipientType,
    channel: channel.meta({ description: 'The channel the verified code was delivered on.' }),
    verified_at: timeSchema('When the user entered the right code.'),
  })
  .meta({ id: 'ExchangeResult', description: 'The recipient a token proves.' })

export type Verification = z.output<typeof verification>
export type VerificationDetails = z.output<typeof verificationDetails>
export type Verified = z.output<typeof verified>
export type Exchanged = z.output<typeof exchanged>
export type Message = z.output<typeof acceptedMessage>
export type MessageDetails = z.output<typeof messageDetails>
