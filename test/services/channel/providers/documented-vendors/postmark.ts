// From Postmark's pages "Email API", "API overview" (error codes), "Bounce API" (bounce types), "Bounce webhook" and
// "Delivery webhook", and its support article "What does Error Code: '300' mean?".
import { Buffer } from 'node:buffer'
import { ProviderFault, RecipientFault } from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID } from '../../../../support/vendors/provider-fixtures.ts'

const MessageID = '0a129aee-e1cd-480d-b08d-4f48548ff48d'
const error = (status: number, ErrorCode: number, Message: string) => ({ status, body: { ErrorCode, Message } })
const event = (more: object) => ({
  MessageID,
  ServerID: 23,
  MessageStream: 'outbound',
  Tag: '',
  Metadata: { delivery_id: DELIVERY_ID },
  ...more,
})
const bounce = (Type: string, TypeCode: number) =>
  event({
    RecordType: 'Bounce',
    ID: 42,
    Type,
    TypeCode,
    Name: 'A bounce',
    Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
    Details: 'Test bounce details for john',
    Email: 'john@example.com',
    Inactive: true,
  })
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: MessageID } as const
const failed = (reason: 'recipient_unreachable' | 'provider_failed', vendorCode: string) => [
  { ...receipt, status: 'failed' as const, failure: { reason, vendorCode, vendorText: null } },
]
const password = 'a password of receipts'

export const CASE: VendorCase<'postmark'> = {
  type: 'postmark',
  config: {
    server_token: 'TOKEN-postmark',
    from: 'Joe Sender, jr <sender@example.com>',
    message_stream: 'codes',
    webhook_password: password,
  },
  withoutReceipts: { webhook_password: null },
  secrets: ['TOKEN-postmark', password],
  message: { recipient: 'receiver@exämple.com', subject: 'Your code', html: '<b>739164</b>' },
  request: {
    path: '/email',
    headers: { 'x-postmark-server-token': 'TOKEN-postmark', accept: 'application/json' },
    body: {
      From: '"Joe Sender, jr" <sender@example.com>',
      To: 'receiver@xn--exmple-cua.com',
      Subject: 'Your code',
      TextBody: 'Shop: your code is 739164.',
      HtmlBody: '<b>739164</b>',
      MessageStream: 'codes',
      Metadata: { delivery_id: DELIVERY_ID },
      TrackOpens: false,
      TrackLinks: 'None',
    },
  },
  accepted: {
    answer: { status: 200, body: { To: 'receiver@example.com', MessageID, ErrorCode: 0, Message: 'OK' } },
    reference: MessageID,
  },
  answerWith: code => error(422, Number(code), 'Sorry.'),
  refusals: [
    [error(422, 406, 'You tried to send to a recipient that is inactive.'), RecipientFault, 'it answered 422, 406'],
    [error(401, 10, 'The Server Token you provided was invalid.'), ProviderFault, 'it answered 401, 10'],
    [error(500, 406, 'of the moment'), ProviderFault, 'it answered 500, 406'],
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
        'delivered',
        event({ RecordType: 'Delivery', Recipient: 'john@example.com', Details: 'Test delivery webhook details' }),
        [{ ...receipt, status: 'delivered' }],
      ],
      ['a mailbox that does not exist', bounce('HardBounce', 1), failed('recipient_unreachable', 'HardBounce')],
      ['blocked by the receiver', bounce('Blocked', 100006), failed('provider_failed', 'Blocked')],
      ['a delay', bounce('Transient', 2), []],
      ['a complaint', event({ RecordType: 'SpamComplaint', Type: 'SpamComplaint', TypeCode: 100001 }), []],
    ],
  },
}
