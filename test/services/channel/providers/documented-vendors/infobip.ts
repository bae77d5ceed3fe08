// From Infobip's page "Receive outbound SMS message report", its Java client, generated from its OpenAPI file (SmsApiTest and
// ApiErrorResponsesTest), its list "Response status and error codes", and "Create notification profile" of its Subscriptions API.
import { Buffer } from 'node:buffer'
import { ProviderFault, RecipientFault } from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID, RECIPIENT } from '../../../../support/vendors/provider-fixtures.ts'

const messageId = '2250be2d4219-3af1-78856-aabe-1362af1edfd2'
const [to, bulkId] = [RECIPIENT.slice(1), '2034072219640523072']
const status = (groupId: number, groupName: string, id: number, name: string) => {
  const description = `What ${name} means`
  return { groupId, groupName, id, name, description }
}
const answer = (given: object) => {
  const message = { messageId, status: given, destination: to, details: { messageCount: 1 } }
  return { status: 200, body: { bulkId, messages: [message] } }
}
const rejected = (id: number, name: string) => answer(status(5, 'REJECTED', id, name))
const report = (given: object, error: object = { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR' }) => ({
  bulkId,
  price: { pricePerMessage: 0.01, currency: 'EUR' },
  status: given,
  error,
  messageId,
  to,
  sentAt: '2019-11-09T16:00:00.000+0000',
  messageCount: 1,
  callbackData: DELIVERY_ID,
})
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: messageId } as const
const failed =
  (failure: { reason: 'recipient_unreachable' | 'provider_failed'; unsubscribed?: true }) =>
  (vendorCode: string, vendorText: string | null = null) => [
    { ...receipt, status: 'failed' as const, failure: { ...failure, vendorCode, vendorText } },
  ]
const unreachable = failed({ reason: 'recipient_unreachable' })
const undelivered = (id: number, name: string, description: string) => {
  const error = { groupId: 1, groupName: 'HANDSET_ERRORS', id, name, description, permanent: false }
  return { results: [report(status(2, 'UNDELIVERABLE', 9, 'UNDELIVERABLE_NOT_DELIVERED'), error)] }
}
const password = 'a password of receipts'
const badRequest = (body: object, code: string) =>
  [{ status: 400, body }, ProviderFault, `it answered 400, ${code}`] as const

export const CASE: VendorCase<'infobip'> = {
  type: 'infobip',
  config: { api_key: 'KEY-infobip', from: 'InfoSMS', webhook_password: password },
  withoutReceipts: { webhook_password: null },
  secrets: ['KEY-infobip', password],
  request: {
    path: '/sms/3/messages',
    headers: { authorization: 'App KEY-infobip', 'content-type': 'application/json' },
    body: {
      messages: [
        {
          sender: 'InfoSMS',
          destinations: [{ to }],
          content: { text: 'Shop: your code is 739164.' },
          options: { validityPeriod: { amount: 600, timeUnit: 'SECONDS' } },
          webhooks: { callbackData: DELIVERY_ID },
        },
      ],
    },
  },
  accepted: { answer: answer(status(1, 'PENDING', 26, 'PENDING_ACCEPTED')), reference: messageId },
  answerWith: code => rejected(52, code),
  refusals: [
    [rejected(52, 'REJECTED_DESTINATION'), RecipientFault, 'it answered 200, REJECTED_DESTINATION'],
    [rejected(12, 'REJECTED_NOT_ENOUGH_CREDITS'), ProviderFault, 'it answered 200, REJECTED_NOT_ENOUGH_CREDITS'],
    badRequest({ errorCode: 'E400', description: 'Request cannot be processed.', violations: [] }, 'E400'),
    badRequest(
      { requestError: { serviceException: { messageId: 'BAD_REQUEST', text: 'Bad request' } } },
      'BAD_REQUEST',
    ),
  ],
  receipts: {
    sign: body => ({
      method: 'POST',
      url: CALLBACK_URL,
      headers: { authorization: `Basic ${Buffer.from(`countersign:${password}`).toString('base64')}` },
      body,
    }),
    coversBody: false,
    bodies: [
      [
        'several in one callback, one of them unreadable',
        {
          results: [
            report(status(3, 'DELIVERED', 2, 'DELIVERED_TO_OPERATOR')),
            { messageId: 7 },
            report(status(3, 'DELIVERED', 5, 'DELIVERED_TO_HANDSET')),
          ],
        },
        [
          { ...receipt, status: 'sent' },
          { ...receipt, status: 'delivered' },
        ],
      ],
      [
        'a number that nobody has',
        undelivered(1, 'EC_UNKNOWN_SUBSCRIBER', 'Unknown Subscriber'),
        unreachable('EC_UNKNOWN_SUBSCRIBER', 'Unknown Subscriber'),
      ],
      [
        'a user who had the operator block the sender',
        undelivered(573, 'EC_SC_BLOCKED_BY_END_USER', 'Short code blocked by the end user'),
        failed({ reason: 'recipient_unreachable', unsubscribed: true })(
          'EC_SC_BLOCKED_BY_END_USER',
          'Short code blocked by the end user',
        ),
      ],
      [
        'an operator that says nothing until the message expires',
        { results: [report(status(4, 'EXPIRED', 29, 'EXPIRED_DLR_UNKNOWN'))] },
        [{ ...receipt, status: 'sent' }],
      ],
      [
        'expired without an error',
        { results: [report(status(4, 'EXPIRED', 15, 'EXPIRED_EXPIRED'))] },
        failed({ reason: 'provider_failed' })('EXPIRED_EXPIRED'),
      ],
    ],
  },
}
