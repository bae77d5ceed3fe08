// From Telnyx's SDK for Node, which is generated from its OpenAPI file (MessageSendParams, OutboundMessagePayload), its list of messaging
// error codes, and its guides "Send your first message", "Receiving webhooks for messaging" and "Advanced opt-in/out management".
import { Buffer } from 'node:buffer'
import { generateKeyPairSync, sign } from 'node:crypto'
import {
  DestinationFault,
  ProviderFault,
  RecipientFault,
  UnsubscribedFault,
} from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID, RECIPIENT } from '../../../../support/vendors/provider-fixtures.ts'
import { startVendor, type VendorOptions } from '../../../../support/vendors/vendor.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const public_key = Buffer.from(x, 'base64url').toString('base64')

const id = '40385f64-5717-4562-b3fc-2c963f66afa6'
const webhook_url = `${CALLBACK_URL}?delivery_id=${DELIVERY_ID}`
const error = (status: number, code: string, title: string) => ({
  status,
  body: { errors: [{ code, title, detail: `${title}: ${RECIPIENT}`, source: { pointer: '/to' } }] },
})
const event = (event_type: string, status: string, errors: object[] = [], url = webhook_url) => ({
  data: {
    event_type,
    id: '4ee8c3a6-4995-4309-a3c6-38e3db9ea4be',
    occurred_at: '2019-12-09T21:32:14.148+00:00',
    payload: {
      direction: 'outbound',
      errors,
      from: { carrier: 'Telnyx', line_type: 'Wireless', phone_number: '+13125550001' },
      id,
      parts: 1,
      record_type: 'message',
      text: 'Hello there!',
      to: [{ carrier: 'T-MOBILE USA, INC.', line_type: 'Wireless', phone_number: RECIPIENT, status }],
      type: 'SMS',
      webhook_url: url,
    },
    record_type: 'event',
  },
  meta: { attempt: 1, delivered_to: url },
})
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: id } as const

export const CASE: VendorCase<'telnyx'> = {
  type: 'telnyx',
  config: { api_key: 'KEY-telnyx', from: '+13125550001', messaging_profile_id: '74ac9cb6-1234', public_key },
  withoutReceipts: { public_key: null },
  secrets: ['KEY-telnyx'],
  request: {
    path: '/v2/messages',
    headers: { authorization: 'Bearer KEY-telnyx', 'content-type': 'application/json' },
    body: {
      to: RECIPIENT,
      text: 'Shop: your code is 739164.',
      from: '+13125550001',
      messaging_profile_id: '74ac9cb6-1234',
      webhook_url,
    },
  },
  accepted: {
    answer: { status: 200, body: { data: { record_type: 'message', direction: 'outbound', id, errors: [] } } },
    reference: id,
  },
  refusals: [
    [error(400, '40310', "Invalid 'to' address"), RecipientFault, 'it answered 400, 40310'],
    [error(403, '40300', 'Blocked due to STOP message'), UnsubscribedFault, 'it answered 403, 40300'],
    // From "Send your first message", error response format: the sender is at fault.
    [
      {
        status: 403,
        body: {
          errors: [
            {
              code: '40300',
              title: 'Forbidden',
              detail: 'The from number +15551234567 is not assigned to a messaging profile.',
              meta: { url: 'https://developers.telnyx.com/docs/messaging/messages/error-codes' },
            },
          ],
        },
      },
      ProviderFault,
      'it answered 403, 40300',
    ],
    [error(422, '42201', "Invalid 'to' number"), RecipientFault, 'it answered 422, 42201'],
    [error(429, '40333', 'Messaging profile spend limit reached'), ProviderFault, 'it answered 429, 40333'],
    [error(400, '40309', 'Invalid destination region'), DestinationFault, 'it answered 400, 40309'],
    [error(400, '40305', "Invalid 'from' address"), ProviderFault, 'it answered 400, 40305'],
    [error(401, '10009', 'Authentication failed'), ProviderFault, 'it answered 401, 10009'],
    [error(500, '40310', 'of the moment'), ProviderFault, 'it answered 500, 40310'],
    [error(422, '447700900123', 'not a code'), ProviderFault, 'it answered 422'],
  ],
  receipts: {
    sign(body, now) {
      const timestamp = String(Math.floor(now / 1000))
      const signature = sign(null, Buffer.from(`${timestamp}|${body}`), privateKey).toString('base64')
      const headers = { 'telnyx-signature-ed25519': signature, 'telnyx-timestamp': timestamp }
      return { method: 'POST', url: webhook_url, headers, body }
    },
    toleranceMs: 300_000,
    coversBody: true,
    bodies: [
      ['delivered', event('message.finalized', 'delivered'), [{ ...receipt, status: 'delivered' }]],
      ['sent', event('message.sent', 'sent'), [{ ...receipt, status: 'sent' }]],
      [
        'a landline',
        event('message.finalized', 'delivery_failed', [{ code: '40001', title: 'Not routable', detail: 'A landline' }]),
        [
          {
            ...receipt,
            status: 'failed',
            failure: {
              reason: 'recipient_unreachable',
              vendorCode: '40001',
              vendorText: 'Not routable. A landline',
            },
          },
        ],
      ],
      [
        'spam',
        event('message.finalized', 'sending_failed', [{ code: '40002', title: 'Blocked as spam - temporary' }]),
        [
          {
            ...receipt,
            status: 'failed',
            failure: { reason: 'provider_failed', vendorCode: '40002', vendorText: 'Blocked as spam - temporary' },
          },
        ],
      ],
      // From "Receiving webhooks for messaging", common delivery failure error codes.
      [
        'a number that cannot be reached',
        event('message.finalized', 'delivery_failed', [
          {
            code: '40300',
            title: 'Destination number unreachable',
            detail: 'The destination number is not reachable on the carrier network.',
            source: { pointer: '/to/0/phone_number' },
          },
        ]),
        [
          {
            ...receipt,
            status: 'failed',
            failure: {
              reason: 'recipient_unreachable',
              vendorCode: '40300',
              vendorText:
                'Destination number unreachable. The destination number is not reachable on the carrier network.',
            },
          },
        ],
      ],
      [
        'a carrier that confirms nothing',
        event('message.finalized', 'delivery_unconfirmed'),
        [{ ...receipt, status: 'sent' }],
      ],
      ['a status that Telnyx added later', event('message.finalized', 'delivery_postponed'), []],
      ["a user's message", event('message.received', 'webhook_delivered'), []],
    ],
  },
}

/** Telnyx for flow tests: it takes every message, and reports as it is told. */
export async function startTelnyx(options: VendorOptions & { now(): number }) {
  const vendor = await startVendor<{ webhook_url: string }>(
    {
      handleRequest: ({ body }) => ({ message: JSON.parse(body.toString()), answer: CASE.accepted.answer }),
      refused: () => error(400, '40310', "Invalid 'to' address"),
      receipt: ({ webhook_url: url }) => ({
        ...CASE.receipts.sign(JSON.stringify(event('message.finalized', 'delivered', [], url)), options.now()),
        url,
      }),
    },
    options,
  )
  return { ...vendor, public_key }
}
