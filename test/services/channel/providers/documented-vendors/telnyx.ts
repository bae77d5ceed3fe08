// From Telnyx's SDK for Node, which is generated from its OpenAPI file (MessageSendParams, OutboundMessagePayload), its list of messaging
// error codes, and its guides "Send your first message", "Receiving webhooks for messaging" and "Advanced opt-in/out management".
import { Buffer } from 'node:buffer'
import { generateKeyPairSync, sign } from 'node:crypto'
import { ProviderFault, RecipientFault } from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID, RECIPIENT } from '../../../../support/vendors/provider-fixtures.ts'
import { startVendor, type VendorOptions } from '../../../../support/vendors/vendor.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const { x = '' } = publicKey.export({ format: 'jwk' })
const public_key = Buffer.from(x, 'base64url').toString('base64')

const id = '40385f64-5717-4562-b3fc-2c963f66afa6'
const webhook_url = `${CALLBACK_URL}?delivery_id=${DELIVERY_ID}`
const error = (status: number, code: string, title: string, detail = `${title}: ${RECIPIENT}`) => ({
  status,
  body: { errors: [{ code, title, detail, source: { pointer: '/to' } }] },
})
const event = (event_type: string, status: string, errors: object[] = [], url = webhook_url) => ({
  data: {
    event_type,
    id: '4ee8c3a6-4995-4309-a3c6-38e3db9ea4be',
    payload: {
      direction: 'outbound',
      errors,
      id,
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
const failed = (reason: 'recipient_unreachable' | 'provider_failed', vendorCode: string, vendorText: string) => [
  { ...receipt, status: 'failed' as const, failure: { reason, vendorCode, vendorText } },
]

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
  answerWith: code => error(422, code, 'Blocked due to STOP message'),
  refusals: [
    [error(400, '40310', "Invalid 'to' address"), RecipientFault, 'it answered 400, 40310'],
    // From "Send your first message", error response format: the sender is at fault.
    [
      error(403, '40300', 'Forbidden', 'The from number +15551234567 is not assigned to a messaging profile.'),
      ProviderFault,
      'it answered 403, 40300',
    ],
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
        failed('recipient_unreachable', '40001', 'Not routable. A landline'),
      ],
      [
        'spam',
        event('message.finalized', 'sending_failed', [{ code: '40002', title: 'Blocked as spam - temporary' }]),
        failed('provider_failed', '40002', 'Blocked as spam - temporary'),
      ],
      // From "Receiving webhooks for messaging", common delivery failure error codes.
      [
        'a number that cannot be reached',
        event('message.finalized', 'delivery_failed', [{ code: '40300', title: 'Destination number unreachable' }]),
        failed('recipient_unreachable', '40300', 'Destination number unreachable'),
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
