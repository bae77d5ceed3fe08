// Verifications and refused sends in the OpenAPI document.
import { keyMode, otpStatus } from '../../domain/openapi/shared-schemas.ts'
import { channel } from '../../domain/tenancy/value-schemas.ts'
import {
  type RefusalRecordAnswer,
  type RefusalSummaryAnswer,
  refusalPage,
  refusalSummary,
} from '../refusals.schemas.ts'
import { type VerificationAnswer, verificationHistory, verificationPage } from '../verifications/schemas.ts'
import { adminOperation, notFoundRefusal, ok, PAGE, query, timeQuery } from './admin-operation.ts'

const example: VerificationAnswer = {
  otp_id: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  status: 'pending',
  channel: 'sms',
  masked_recipient: '+44****56',
  completion: 'code',
  created_at: '2030-01-01T12:00:00.000Z',
  expires_at: '2030-01-01T12:10:00.000Z',
  verified_at: null,
  attempts_left: 5,
  resend_at: '2030-01-01T12:00:30.000Z',
  deliveries: [
    {
      delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
      channel: 'sms',
      generation: 1,
      status: 'failed',
      created_at: '2030-01-01T12:00:00.000Z',
      updated_at: '2030-01-01T12:00:02.310Z',
      micros: 40_000,
      provider: 'main-sms',
      reason: 'recipient_unreachable',
    },
  ],
  action_url: null,
  company_id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  mode: 'live',
  started_by: { key_id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c', kind: 'server' },
  country: 'GB',
  locale: 'en',
  order: ['sms'],
  sends: 1,
  generation: 1,
  wrong_codes: 0,
  approved_by: null,
  exchange: null,
}

const refusalExample: RefusalRecordAnswer = {
  at: '2030-01-01T12:00:00.000Z',
  request_id: '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55',
  app_id: 'app_01k2m8x4e9s7v3hqz5tnw6yb0c',
  key_id: 'key_01k2m8x4e9s7v3hqz5tnw6yb0c',
  type: 'RateLimitExceededError',
  scope: 'recipient',
  country: 'GB',
  masked_recipient: '+44****56',
}

const summaryExample: RefusalSummaryAnswer = {
  types: [
    { type: 'RateLimitExceededError', count: 12 },
    { type: 'GeoBlockedError', count: 3 },
  ],
  counted: 15,
  complete: true,
  oldest_at: '2030-01-01T12:00:00.000Z',
}

const FILTERS = [
  query('recipient', 'A phone number (`%2B` for the plus) or an email address.'),
  query('otp_id', 'Only this verification.'),
  query('status', 'Only verifications in this state now.', otpStatus),
  query('channel', 'Only verifications on this channel.', channel),
  query('country', 'Only numbers of this country, an ISO 3166-1 alpha-2 code.'),
  timeQuery('since', 'Only those created at this time or later.'),
  timeQuery('until', 'Only those created before this time.'),
]

export const verificationOperations = [
  adminOperation({
    id: 'searchVerifications',
    route: ['get', '/verifications'],
    summary: 'Search verifications',
    description: 'Over all apps that the caller may see, both modes, newest first. The recipient is masked.',
    parameters: [...PAGE, query('app_id', 'Only those of this app.'), ...FILTERS],
    answers: [ok(verificationPage, 'A page of verifications.', { items: [example], next_cursor: null })],
    refusals: [notFoundRefusal],
  }),
  adminOperation({
    id: 'listVerifications',
    route: ['get', '/apps/{id}/verifications'],
    summary: "List an app's verifications",
    description: 'Both modes, newest first. The recipient is masked.',
    parameters: [...PAGE, ...FILTERS],
    answers: [ok(verificationPage, 'A page of verifications.', { items: [example], next_cursor: null })],
  }),
  adminOperation({
    id: 'getVerificationHistory',
    route: ['get', '/verifications/{otp_id}'],
    summary: "Look a verification's history up",
    description:
      'All that happened, in order: messages, provider calls with what the vendor said, events and their attempts.',
    answers: [
      ok(verificationHistory, 'The verification with its timeline.', {
        ...example,
        timeline: [
          { at: '2030-01-01T12:00:00.000Z', happened: 'otp.started', by: example.started_by },
          {
            at: '2030-01-01T12:00:00.420Z',
            happened: 'provider.called',
            delivery_id: 'dlv_01k2m8x4ea5c9r2mbt7kfw0xzd',
            provider: 'main-sms',
            round: 1,
            call: 1,
            result: 'refused',
            reference: null,
            http_status: 400,
            vendor_code: '21614',
            vendor_text: 'The number is not a mobile number',
            ms: 231,
          },
        ],
      }),
    ],
  }),
  adminOperation({
    id: 'listRefusals',
    route: ['get', '/refusals'],
    summary: 'List refused sends',
    description:
      'Sends and resends that were refused, newest first. They are kept for 7 days; of a flood only some are recorded.',
    parameters: [
      ...PAGE,
      query('app_id', 'Only those of this app.'),
      query('recipient', 'A phone number (`%2B` for the plus) or an email address.'),
      query('type', 'Only refusals with this error type.'),
      timeQuery('since', 'Only those of this time or later.'),
    ],
    answers: [ok(refusalPage, 'A page of refusals.', { items: [refusalExample], next_cursor: null })],
    refusals: [notFoundRefusal],
  }),
  adminOperation({
    id: 'summarizeRefusals',
    route: ['get', '/refusals/summary'],
    summary: 'Count refused sends by type',
    description: 'How many recorded refusals there are of each type. Of very many only the newest 5 000 are counted.',
    parameters: [
      query('app_id', 'Only those of this app.'),
      query('mode', 'Only this mode; both without it.', keyMode),
      timeQuery('since', 'Only those of this time or later.'),
    ],
    answers: [ok(refusalSummary, 'The counts.', summaryExample)],
    refusals: [notFoundRefusal],
  }),
]
