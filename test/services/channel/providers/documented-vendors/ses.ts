// From the Amazon SES API v2 reference (SendEmail) and AWS's SDK for Go, which is generated from its model, the SES
// guide's pages "Examples of event data that Amazon SES publishes to Amazon SNS" and "Contents of event data …", and
// the SNS guide's "Verifying the signatures of Amazon SNS messages" and "HTTP/HTTPS notification JSON format".
import { Buffer } from 'node:buffer'
import { sign } from 'node:crypto'
import type { Outbound } from '../../../../../infra/outbound/outbound.ts'
import { DestinationFault, ProviderFault } from '../../../../../services/channel/provider.ts'
import type { VendorCase } from '../../../../support/vendors/documented-vendors.ts'
import { CALLBACK_URL, DELIVERY_ID } from '../../../../support/vendors/provider-fixtures.ts'
import { SNS_CERTIFICATE, SNS_KEY } from '../../../../support/vendors/sns-certificate.ts'
import {
  type ReceiptStatus,
  startVendor,
  type VendorCallback,
  type VendorOptions,
} from '../../../../support/vendors/vendor.ts'

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail'
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem'

export const SUBSCRIBE_URL =
  'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=x&Token=2336412f37'
export const CONFIRMATION = {
  Type: 'SubscriptionConfirmation',
  Message: `You have chosen to subscribe to the topic ${TOPIC}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`,
  Token: '2336412f37',
}

/** Calls of SNS are answered here, and all others pass. */
export const withSns = (outbound: Outbound, called: string[] = []): Outbound => ({
  ...outbound,
  async request(request) {
    if (!request.url.startsWith('https://')) return outbound.request(request)
    called.push(request.url)
    return { status: 200, headers: {}, body: Buffer.from(SNS_CERTIFICATE) }
  },
})

/** An envelope of SNS with its signature; `more` is signed, `over` replaces members afterwards. */
export function signedBySns(more: Record<string, string>, now: number, over: object = {}): string {
  const envelope: Record<string, string> = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Timestamp: new Date(now).toISOString(),
    ...more,
  }
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names.flatMap(name => (envelope[name] === undefined ? [] : [`${name}\n${envelope[name]}\n`])).join('')
  const version = more.SignatureVersion ?? '2'
  const Signature = sign(version === '1' ? 'sha1' : 'sha256', Buffer.from(text), SNS_KEY).toString('base64')
  return JSON.stringify({
    ...envelope,
    SignatureVersion: version,
    Signature,
    SigningCertURL: CERTIFICATE_URL,
    UnsubscribeURL: 'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
    ...over,
  })
}

const messageId = 'EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000'
const event = (eventType: string, more: object, delivery_id = DELIVERY_ID) => ({
  eventType,
  ...more,
  mail: {
    timestamp: '2017-08-05T00:40:02.012Z',
    source: 'Sender Name <sender@example.com>',
    messageId,
    destination: ['recipient@example.com'],
    tags: { 'ses:configuration-set': ['codes'], delivery_id: [delivery_id] },
  },
})
const emailAddress = 'recipient@example.com'
const timestamp = '2017-08-05T00:41:02.669Z'
const bounce = (bounceType: string, bounceSubType: string, delivery_id = DELIVERY_ID) => {
  const bouncedRecipients = [{ emailAddress, action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1' }]
  return event('Bounce', { bounce: { bounceType, bounceSubType, bouncedRecipients, timestamp } }, delivery_id)
}
const delivery = (delivery_id = DELIVERY_ID) =>
  event(
    'Delivery',
    { delivery: { timestamp, recipients: [emailAddress], smtpResponse: '250 2.6.0 Message received' } },
    delivery_id,
  )
const complaint = (delivery_id = DELIVERY_ID) =>
  event(
    'Complaint',
    { complaint: { complainedRecipients: [{ emailAddress }], timestamp, complaintFeedbackType: 'abuse' } },
    delivery_id,
  )
const error = (status: number, type: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazonaws.sesv2/` },
  body: { message },
})
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: messageId } as const
const failed = (reason: 'recipient_unreachable' | 'provider_failed', vendorCode: string) => [
  { ...receipt, status: 'failed' as const, failure: { reason, vendorCode, vendorText: null } },
]

export const CASE: VendorCase<'ses'> = {
  type: 'ses',
  config: {
    region: 'eu-west-1',
    access_key_id: 'AKIDEXAMPLE',
    secret_access_key: 'SECRET-of-aws',
    from: 'Sender Name – Zürich <sender@exämple.com>',
    configuration_set: 'codes',
    topic_arn: TOPIC,
  },
  wrapOutbound: outbound => withSns(outbound),
  withoutReceipts: { topic_arn: null },
  secrets: ['SECRET-of-aws'],
  message: { recipient: 'recipient@exämple.com', subject: 'Your code', html: '<b>739164</b>' },
  request: {
    path: '/v2/email/outbound-emails',
    headers: {
      authorization:
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20300101\/eu-west-1\/ses\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/,
      'x-amz-date': '20300101T000000Z',
      'content-type': 'application/json',
    },
    body: {
      FromEmailAddress: '=?UTF-8?B?U2VuZGVyIE5hbWUg4oCTIFrDvHJpY2g=?= <sender@xn--exmple-cua.com>',
      Destination: { ToAddresses: ['recipient@xn--exmple-cua.com'] },
      Content: {
        Simple: {
          Subject: { Data: 'Your code', Charset: 'UTF-8' },
          Body: {
            Text: { Data: 'Shop: your code is 739164.', Charset: 'UTF-8' },
            Html: { Data: '<b>739164</b>', Charset: 'UTF-8' },
          },
          Headers: [{ Name: 'Auto-Submitted', Value: 'auto-generated' }],
        },
      },
      EmailTags: [{ Name: 'delivery_id', Value: DELIVERY_ID }],
      ConfigurationSetName: 'codes',
    },
  },
  accepted: { answer: { status: 200, body: { MessageId: messageId } }, reference: messageId },
  answerWith: code => error(400, code, 'Local address contains control or whitespace'),
  refusals: [
    [
      error(400, 'MessageRejected', 'Email address is not verified.'),
      ProviderFault,
      'it answered 400, MessageRejected',
    ],
    // The other places of the error's name that AWS's SDKs read.
    [
      { status: 400, headers: { 'x-amzn-errortype': 'com.amazonaws.sesv2#SendingPausedException' }, body: {} },
      ProviderFault,
      'it answered 400, SendingPausedException',
    ],
    [
      { status: 400, body: { __type: 'com.amazonaws.sesv2#BadRequestException', message: 'Illegal address' } },
      DestinationFault,
      'it answered 400, BadRequestException',
    ],
  ],
  receipts: {
    sign: (body, now) => ({
      method: 'POST',
      url: CALLBACK_URL,
      headers: {},
      body: signedBySns({ Message: body, Subject: 'Amazon SES Email Event Notification' }, now),
    }),
    toleranceMs: 3_600_000,
    coversBody: true,
    bodies: [
      ['delivered', delivery(), [{ ...receipt, status: 'delivered' }]],
      ['sent', event('Send', { send: {} }), [{ ...receipt, status: 'sent' }]],
      [
        'a mailbox that does not exist',
        bounce('Permanent', 'General'),
        failed('recipient_unreachable', 'Permanent.General'),
      ],
      [
        'a permanent bounce of a subtype that Amazon added later',
        bounce('Permanent', 'OnTenantSuppressionList'),
        failed('recipient_unreachable', 'Permanent.OnTenantSuppressionList'),
      ],
      ['a full mailbox', bounce('Transient', 'MailboxFull'), failed('recipient_unreachable', 'Transient.MailboxFull')],
      ['a bounce of the moment', bounce('Transient', 'General'), failed('provider_failed', 'Transient.General')],
      ['a virus', event('Reject', { reject: { reason: 'Bad content' } }), failed('provider_failed', 'Reject')],
      ['a delay', event('DeliveryDelay', { deliveryDelay: { delayType: 'TransientCommunicationFailure' } }), []],
      ['a complaint', complaint(), []],
    ],
  },
}

interface SesMail {
  EmailTags: [{ Value: string }]
}

/** SES and SNS for flow tests: they take every mail, and call back as they are told. A mail that is "read" gets a complaint. */
export async function startSes({
  now,
  callbackUrl,
  ...options
}: VendorOptions & { now(): number; callbackUrl: string }) {
  const bySns = (body: string): VendorCallback => ({
    method: 'POST',
    url: callbackUrl,
    headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-topic-arn': TOPIC },
    body,
  })
  const eventOf = (status: ReceiptStatus, delivery_id: string): object => {
    if (status === 'failed') return bounce('Permanent', 'General', delivery_id)
    if (status === 'read') return complaint(delivery_id)
    return status === 'delivered' ? delivery(delivery_id) : event('Send', { send: {} }, delivery_id)
  }
  const notification = (
    status: ReceiptStatus,
    { EmailTags: [{ Value }] }: SesMail,
    over: object = {},
  ): VendorCallback => bySns(signedBySns({ Message: JSON.stringify(eventOf(status, Value)) }, now(), over))
  const vendor = await startVendor<SesMail>(
    {
      handleRequest: ({ body }) => ({ message: JSON.parse(body.toString()), answer: CASE.accepted.answer }),
      refused: () => error(400, 'MessageRejected', 'Email address is not verified.'),
      receipt: (mail, status) => notification(status, mail),
    },
    options,
  )
  return { ...vendor, notification, bySns }
}
