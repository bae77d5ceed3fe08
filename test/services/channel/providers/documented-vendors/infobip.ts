// From Infobip's page "Receive outbound SMS message report", its Java client, generated from its OpenAPI file (SmsApiTest and
// ApiErrorResponsesTest), its list "Response status and error codes", and "Create notification profile" of its Subscriptions API.
import { Buffer } from 'node:buffer'
import { DestinationFault, ProviderFault, RecipientFault } from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID, RECIPIENT } from '../../../../support/vendors/provider-fixtures.ts'

const messageId = '2250be2d4219-3af1-78856-aabe-1362af1edfd2'
const status = (groupId: number, groupName: string, id: number, name: string) => ({
  groupId,
  groupName,
  id,
  name,
  description: `What ${name} means`,
})
const answer = (given: object) => ({
  status: 200,
  body: {
    bulkId: '2034072219640523072',
    messages: [{ messageId, status: given, destination: RECIPIENT.slice(1), details: { messageCount: 1 } }],
  },
})
const rejected = (id: number, name: string) => answer(status(5, 'REJECTED', id, name))
const NO_ERROR = { groupId: 0, groupName: 'OK', id: 0, name: 'NO_ERROR', description: 'No Error', permanent: false }
const report = (given: object, error: object = NO_ERROR) => ({
  bulkId: 'BULK-ID-123-xyz',
  price: { pricePerMessage: 0.01, currency: 'EUR' },
  status: given,
  error,
  messageId,
  to: RECIPIENT.slice(1),
  sender: 'InfoSMS',
  sentAt: '2019-11-09T16:00:00.000+0000',
  doneAt: '2019-11-09T16:00:00.000+0000',
  messageCount: 1,
  callbackData: DELIVERY_ID,
})
const undelivered = (id: number, name: string, description: string) => ({
  results: [
    report(status(2, 'UNDELIVERABLE', 9, 'UNDELIVERABLE_NOT_DELIVERED'), {
      groupId: 1,
      groupName: 'HANDSET_ERRORS',
      id,
      name,
      description,
      permanent: false,
    }),
  ],
})
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: messageId } as const
const unreachable = (vendorCode: string, vendorText: string, more: { unsubscribed?: true } = {}) => [
  {
    ...receipt,
    status: 'failed' as const,
    failure: { reason: 'recipient_unreachable' as const, ...more, vendorCode, vendorText },
  },
]
const password = 'a password of receipts'

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
          destinations: [{ to: RECIPIENT.slice(1) }],
          content: { text: 'Shop: your code is 739164.' },
          options: { validityPeriod: { amount: 600, timeUnit: 'SECONDS' } },
          webhooks: { callbackData: DELIVERY_ID },
        },
      ],
    },
  },
  accepted: { answer: answer(status(1, 'PENDING', 26, 'PENDING_ACCEPTED')), reference: messageId },
  refusals: [
    [rejected(52, 'REJECTED_DESTINATION'), RecipientFault, 'it answered 200, REJECTED_DESTINATION'],
    [rejected(6, 'REJECTED_NETWORK'), DestinationFault, 'it answered 200, REJECTED_NETWORK'],
    [rejected(87, 'SIGNALS_BLOCKED'), DestinationFault, 'it answered 200, SIGNALS_BLOCKED'],
    [rejected(12, 'REJECTED_NOT_ENOUGH_CREDITS'), ProviderFault, 'it answered 200, REJECTED_NOT_ENOUGH_CREDITS'],
    [
      {
        status: 400,
        body: {
          errorCode: 'E400',
          description: 'Request cannot be processed.',
          action: 'Check the syntax, violations and adjust the request.',
          violations: [],
          resources: [
            {
              name: 'API endpoint documentation',
              url: 'https://www.infobip.com/docs/api/send-sms-messages',
            },
          ],
        },
      },
      ProviderFault,
      'it answered 400, E400',
    ],
    [
      {
        status: 400,
        body: { requestError: { serviceException: { messageId: 'BAD_REQUEST', text: 'Bad request' } } },
      },
      ProviderFault,
      'it answered 400, BAD_REQUEST',
    ],
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
        'a handset that is switched off',
        undelivered(6, 'EC_ABSENT_SUBSCRIBER_SM', 'Absent Subscriber'),
        unreachable('EC_ABSENT_SUBSCRIBER_SM', 'Absent Subscriber'),
      ],
      [
        'a user who had the operator block the sender',
        undelivered(573, 'EC_SC_BLOCKED_BY_END_USER', 'Short code blocked by the end user'),
        unreachable('EC_SC_BLOCKED_BY_END_USER', 'Short code blocked by the end user', { unsubscribed: true }),
      ],
      [
        'an operator that says nothing until the message expires',
        { results: [report(status(4, 'EXPIRED', 29, 'EXPIRED_DLR_UNKNOWN'))] },
        [{ ...receipt, status: 'sent' }],
      ],
      [
        'expired without an error',
        { results: [report(status(4, 'EXPIRED', 15, 'EXPIRED_EXPIRED'))] },
        [
          {
            ...receipt,
            status: 'failed',
            failure: { reason: 'provider_failed', vendorCode: 'EXPIRED_EXPIRED', vendorText: null },
          },
        ],
      ],
    ],
  },
}
