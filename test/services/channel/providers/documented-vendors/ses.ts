// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html, .../ses/latest/dg/event-publishing-retrieving-sns-examples.html,
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
import { Buffer } from 'node:buffer'
import { sign } from 'node:crypto'
import type { Outbound } from '../../../../../infra/outbound/outbound.ts'
import { DestinationFault, ProviderFault } from '../../../../../services/channel/provider.ts'
import { createSesProvider } from '../../../../../services/channel/providers/ses.ts'
import { CALLBACK_URL, DELIVERY_ID } from '../../../../support/vendors/provider-fixtures.ts'
import { SNS_CERTIFICATE, SNS_KEY } from '../../../../support/vendors/sns-certificate.ts'
import type { VendorCase } from './vendor-case.ts'

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail'
export const CERTIFICATE_URL =
  'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem'

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
const event = (eventType: string, more: object) => ({
  eventType,
  ...more,
  mail: {
    timestamp: '2017-08-05T00:40:02.012Z',
    source: 'Sender Name <sender@example.com>',
    sourceArn: 'arn:aws:ses:us-east-1:123456789012:identity/sender@example.com',
    sendingAccountId: '123456789012',
    messageId,
    destination: ['recipient@example.com'],
    headersTruncated: false,
    tags: { 'ses:configuration-set': ['codes'], delivery_id: [DELIVERY_ID] },
  },
})
const bounce = (bounceType: string, bounceSubType: string) =>
  event('Bounce', {
    bounce: {
      bounceType,
      bounceSubType,
      bouncedRecipients: [
        { emailAddress: 'recipient@example.com', action: 'failed', status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1' },
      ],
      timestamp: '2017-08-05T00:41:02.669Z',
      feedbackId: '01000157c44f053b-61b59c11-9236-11e6-8f96-7be8aexample-000000',
      reportingMTA: 'dsn; mta.example.com',
    },
  })
const error = (status: number, type: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazonaws.sesv2/` },
  body: { message },
})
const receipt = { kind: 'receipt', delivery_id: DELIVERY_ID, reference: messageId } as const
const failed = (reason: 'recipient_unreachable' | 'provider_failed', vendorCode: string) => [
  { ...receipt, status: 'failed' as const, failure: { reason, vendorCode, vendorText: null } },
]

export const SES: VendorCase = {
  name: 'Amazon SES',
  create: (base_url, deps, over) =>
    createSesProvider(
      {
        config: {
          region: 'eu-west-1',
          access_key_id: 'AKIDEXAMPLE',
          secret_access_key: 'SECRET-of-aws',
          from: 'Sender Name <sender@example.com>',
          configuration_set: 'codes',
          topic_arn: TOPIC,
          base_url,
          ...over,
        },
      },
      { ...deps, outbound: withSns(deps.outbound) },
    ),
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
      FromEmailAddress: 'Sender Name <sender@example.com>',
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
  refusals: [
    [
      error(400, 'MessageRejected', 'Email address is not verified.'),
      ProviderFault,
      'it answered 400, MessageRejected',
    ],
    [
      error(400, 'BadRequestException', 'Local address contains control or whitespace'),
      DestinationFault,
      'it answered 400, BadRequestException',
    ],
    [
      error(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.'),
      ProviderFault,
      'it answered 403, SignatureDoesNotMatch',
    ],
    [
      error(400, 'AccountSuspendedException', 'The account is suspended.'),
      ProviderFault,
      'it answered 400, AccountSuspendedException',
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
      [
        'delivered',
        event('Delivery', { delivery: { smtpResponse: '250 2.6.0 Message received', recipients: [] } }),
        [{ ...receipt, status: 'delivered' }],
      ],
      ['sent', event('Send', { send: {} }), [{ ...receipt, status: 'sent' }]],
      [
        'a mailbox that does not exist',
        bounce('Permanent', 'General'),
        failed('recipient_unreachable', 'Permanent.General'),
      ],
      ['a bounce of the moment', bounce('Transient', 'General'), failed('provider_failed', 'Transient.General')],
      ['a virus', event('Reject', { reject: { reason: 'Bad content' } }), failed('provider_failed', 'Reject')],
      ['a delay', event('DeliveryDelay', { deliveryDelay: { delayType: 'TransientCommunicationFailure' } }), []],
      ['a complaint', event('Complaint', { complaint: {} }), []],
    ],
  },
}
