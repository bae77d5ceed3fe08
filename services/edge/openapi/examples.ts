// Example requests and answers of one verification: sent by SMS, resent by WhatsApp, verified and exchanged.

import type { z } from 'zod'
import { SAMPLE_NUMBER } from '../../../machines/sample-number.ts'
import type {
  delivery,
  Exchanged,
  Message,
  MessageDetails,
  Verification,
  VerificationDetails,
  Verified,
} from '../schemas.answers.ts'

const otp_id = 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c'
const token = 'otp_vt_01k2m8x4e9s7v3hqz5tnw6yb0cQm9zR0pXv4tq8Jw1uYd6sLk3nHb7cFe5aGi2oPx'

export const requestExamples = {
  send: { recipient: SAMPLE_NUMBER, locale: 'en', client_ip: '203.0.113.7' },
  resend: { otp_id, channel: 'whatsapp' },
  verify: { otp_id, code: '123456' },
  cancel: { otp_id },
  exchange: { verification_token: token },
  message: { recipient: SAMPLE_NUMBER, code: '482913', locale: 'en', client_ip: '203.0.113.7' },
}

const sent: Verification = {
  otp_id,
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
  action_url: null,
  completion: 'code',
}

const linked: Verification = {
  ...sent,
  channel: 'whatsapp',
  action_url:
    'https://wa.me/15550001111?text=Send%20this%20message%20to%20get%20your%20code%20for%20Demo.%20K7Q2M9XD4RBT3WHN',
}

const delivered: z.output<typeof delivery> = {
  delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
  channel: 'sms',
  status: 'delivered',
  created_at: '2030-01-01T12:00:00.000Z',
  updated_at: '2030-01-01T12:00:02.310Z',
}

const status: VerificationDetails = {
  ...sent,
  created_at: '2030-01-01T12:00:00.000Z',
  expires_at: '2030-01-01T12:10:00.000Z',
  verified_at: null,
  attempts_left: 5,
  resend_at: '2030-01-01T12:00:30.000Z',
  deliveries: [delivered],
}

const matched: Verified = { otp_id, status: 'approved', matched: true, attempts_left: 5, verification_token: null }

const exchanged: Exchanged = {
  otp_id,
  recipient: SAMPLE_NUMBER,
  recipient_type: 'phone',
  channel: 'sms',
  verified_at: '2030-01-01T12:00:41.120Z',
}

const message: Message = {
  message_id: 'msg_01k2m8x4e9s7v3hqz5tnw6yb0c',
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
}

/** By operation, then by what the example shows. */
export const answerExamples = {
  send: { sent, 'a WhatsApp link mode': linked },
  resend: { 'on a WhatsApp link': linked, 'on the next channel': { ...sent, channel: 'telegram' } },
  verify: {
    'a right code': matched,
    'a right code, by a publishable key': { ...matched, verification_token: token },
    'a wrong code': { ...matched, status: 'pending', matched: false, attempts_left: 4 },
    'the last wrong code': { ...matched, status: 'failed', matched: false, attempts_left: 0 },
  },
  status: { 'by a server key': status, 'by a publishable key': withoutDeliveries(status) },
  cancel: { canceled: { ...sent, status: 'canceled' } },
  exchange: { exchanged },
  message: { accepted: message },
  messageStatus: {
    delivered: {
      ...message,
      status: 'delivered',
      created_at: status.created_at,
      expires_at: status.expires_at,
      deliveries: [delivered],
    } satisfies MessageDetails,
  },
}

function withoutDeliveries({ deliveries: _, ...rest }: VerificationDetails): VerificationDetails {
  return rest
}
