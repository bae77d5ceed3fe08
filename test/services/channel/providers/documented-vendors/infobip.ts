// https://www.infobip.com/docs/api/channels/sms, the tests of https://github.com/infobip/infobip-api-java-client (SmsApiTest), and
// https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes
import { Buffer } from 'node:buffer'
import { DestinationFault, ProviderFault, RecipientFault } from '../../../../../services/channel/provider.ts'
import { createInfobipProvider } from '../../../../../services/channel/providers/infobip.ts'
import { CALLBACK_URL, DELIVERY_ID, RECIPIENT } from '../../../../support/vendors/provider-fixtures.ts'
import type { VendorCase } from './vendor-case.ts'

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
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: messageId } as const
const password = 'a password of receipts'

export const INFOBIP: VendorCase = {
  name: 'Infobip',
  create: (base_url, deps, over) =>
    createInfobipProvider(
      { config: { api_key: 'KEY-infobip', from: 'InfoSMS', webhook_password: password, base_url, ...over } },
      deps,
    ),
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
    [rejected(12, 'REJECTED_NOT_ENOUGH_CREDITS'), ProviderFault, 'it answered 200, REJECTED_NOT_ENOUGH_CREDITS'],
    [
      { status: 401, body: { errorCode: 'E401', description: 'The request lacks valid credentials.', violations: [] } },
      ProviderFault,
      'it answered 401, E401',
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
        {
          results: [
            report(status(2, 'UNDELIVERABLE', 9, 'UNDELIVERABLE_NOT_DELIVERED'), {
              ...NO_ERROR,
              groupId: 1,
              groupName: 'HANDSET_ERRORS',
              id: 1,
              name: 'EC_UNKNOWN_SUBSCRIBER',
              description: 'Unknown Subscriber',
            }),
          ],
        },
        [
          {
            ...receipt,
            status: 'failed',
            failure: {
              reason: 'recipient_unreachable',
              vendorCode: 'EC_UNKNOWN_SUBSCRIBER',
              vendorText: 'Unknown Subscriber',
            },
          },
        ],
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
