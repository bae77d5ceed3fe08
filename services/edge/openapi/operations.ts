// The documentation of each operation: which keys may call it, its request, its answer and its refusals. One entry per route of the API.
import type { SchemaName } from './components.ts'
import { answerExamples, requestExamples } from './examples.ts'
import { type DocumentedRefusal, refusal } from './refusals.ts'

export interface DocumentedOperation {
  id: string
  method: 'get' | 'post'
  path: string
  summary: string
  description: string
  keys: readonly ('server' | 'publishable')[]
  request: { schema: SchemaName; example: unknown } | null
  idempotencyKey?: true
  answer: { schema: SchemaName; description: string; examples: Record<string, unknown> }
  refusals: readonly DocumentedRefusal[]
  /** The operations that can follow, with members of this answer. */
  links?: Record<string, Link>
}

/** Leads to another operation and passes a member of this answer to it. */
export interface Link {
  operationId: string
  description: string
  parameters?: Record<string, string>
  requestBody?: Record<string, string>
}

const ANY_KEY = ['server', 'publishable'] as const
const SERVER_KEY = ['server'] as const

const { unauthorized, failed, unavailable, brokenJson, tooLarge, notJson, invalid, notFound, origin } = refusal
const COMMON_REFUSALS = [unauthorized, failed, unavailable]
const BODY_REFUSALS = [...COMMON_REFUSALS, brokenJson, tooLarge, notJson, invalid]

const otp_id = '$response.body#/otp_id'
const NEXT_LINKS: Record<string, Link> = {
  status: { operationId: 'status', description: 'Look it up.', parameters: { otp_id } },
  resend: { operationId: 'resend', description: 'Send it again.', requestBody: { otp_id } },
  verify: { operationId: 'verify', description: 'Check the code the user entered.', requestBody: { otp_id } },
  cancel: { operationId: 'cancel', description: 'Cancel it.', requestBody: { otp_id } },
}
const EXCHANGE_LINK: Record<string, Link> = {
  exchange: {
    operationId: 'exchange',
    description: 'Exchange the token on your backend, with a server key.',
    requestBody: { verification_token: '$response.body#/verification_token' },
  },
}

export const OPERATIONS: readonly DocumentedOperation[] = [
  {
    id: 'send',
    method: 'post',
    path: '/otp/send',
    summary: 'Start a verification',
    description:
      'Generates a code and delivers it over the channel that routing chooses for the recipient. In the two WhatsApp link modes nothing is sent yet: have the user open `action_url`. The code is never returned.',
    keys: ANY_KEY,
    request: { schema: 'SendRequest', example: requestExamples.send },
    idempotencyKey: true,
    answer: { schema: 'Verification', description: 'The verification, pending.', examples: answerExamples.send },
    refusals: [
      ...BODY_REFUSALS,
      refusal.idempotencyKey,
      refusal.recipient,
      refusal.geo,
      refusal.noChannel,
      refusal.reputation,
      refusal.sendLimit,
      refusal.funds,
      refusal.sendDisabled,
      origin,
    ],
    links: NEXT_LINKS,
  },
  {
    id: 'resend',
    method: 'post',
    path: '/otp/resend',
    summary: 'Send it again',
    description:
      'After a cooldown, re-issues the same code on the next enabled channel; once the order is exhausted, on the last usable one. With `channel`, a fresh code goes out on exactly that channel and the earlier one no longer counts.',
    keys: ANY_KEY,
    request: { schema: 'ResendRequest', example: requestExamples.resend },
    answer: {
      schema: 'Verification',
      description: 'The verification on its new channel.',
      examples: answerExamples.resend,
    },
    refusals: [
      ...BODY_REFUSALS,
      notFound,
      refusal.resend,
      refusal.cooldown,
      refusal.geo,
      refusal.messageLimit,
      refusal.reputation,
      refusal.funds,
      refusal.sendDisabled,
      origin,
    ],
  },
  {
    id: 'verify',
    method: 'post',
    path: '/otp/verify',
    summary: 'Check a code',
    description:
      'A wrong code is not an error: `matched` is false and `attempts_left` counts down; the last one fails the verification. A publishable key gets a `verification_token` for a right code, which your backend exchanges: what a device says is no proof. The key that verified may repeat the call for 60 s, while the code is valid and its token is not exchanged, because the answer may have been lost; after that the right code is refused too. Accept an `otp_id` once.',
    keys: ANY_KEY,
    request: { schema: 'VerifyRequest', example: requestExamples.verify },
    answer: { schema: 'Verified', description: 'Whether the code was right.', examples: answerExamples.verify },
    refusals: [
      ...BODY_REFUSALS,
      notFound,
      refusal.notPending,
      refusal.verifyNotAllowed,
      refusal.expired,
      refusal.verifyLimit,
      origin,
    ],
    links: EXCHANGE_LINK,
  },
  {
    id: 'status',
    method: 'get',
    path: '/otp/{otp_id}',
    summary: 'Look a verification up',
    description: 'How far a verification got. Server keys also see its deliveries.',
    keys: ANY_KEY,
    request: null,
    answer: {
      schema: 'VerificationStatus',
      description: 'The verification as it is now.',
      examples: answerExamples.status,
    },
    refusals: [...COMMON_REFUSALS, notFound, origin],
  },
  {
    id: 'cancel',
    method: 'post',
    path: '/otp/cancel',
    summary: 'Cancel a verification',
    description: 'Its code and link are dead from then on. Canceling twice gives the same answer.',
    keys: SERVER_KEY,
    request: { schema: 'CancelRequest', example: requestExamples.cancel },
    answer: { schema: 'Verification', description: 'The verification, canceled.', examples: answerExamples.cancel },
    refusals: [...BODY_REFUSALS, notFound, refusal.notPending, refusal.expired],
  },
  {
    id: 'exchange',
    method: 'post',
    path: '/verifications/exchange',
    summary: 'Exchange a verification token',
    description:
      'Exchanges a token produced on a device for the recipient it proves. This is the only trustworthy proof that a user controls a number. Repeating the call with the same API key gives the same answer for as long as the token lives: accept an `otp_id` once.',
    keys: SERVER_KEY,
    request: { schema: 'ExchangeRequest', example: requestExamples.exchange },
    answer: { schema: 'Exchanged', description: 'Who was verified.', examples: answerExamples.exchange },
    refusals: [...BODY_REFUSALS, refusal.noSuchToken],
  },
]
