// The client API, /api/v1: which keys may call each operation, its request, its answer and its refusals. One entry per route.
import type { z } from 'zod'
import type {
  ApiAnswer,
  ApiLink,
  ApiOperation,
  ApiParameter,
  ApiPart,
  ApiRefusal,
} from '../../../infra/openapi/operation.ts'
import * as answers from '../schemas.answers.ts'
import * as requests from '../schemas.requests.ts'
import { answerExamples, requestExamples } from './examples.ts'
import { CHALLENGE_SOLUTION_PARAMETER, OTP_ID_PARAMETER, sendAnswerHeaders, sendParameters } from './parameters.ts'
import { refusal } from './refusals.ts'
import { WEBHOOKS } from './webhooks.ts'

interface ClientOperation {
  id: string
  /** Its path follows /api/v1. */
  route: readonly ['get' | 'post', string]
  summary: string
  description: string
  keys: readonly ('server' | 'publishable')[]
  request: { schema: z.ZodType; example: unknown } | null
  parameters?: readonly ApiParameter[]
  answer: Omit<ApiAnswer, 'status'> & { schema: z.ZodType }
  refusals: readonly ApiRefusal[]
  links?: Record<string, ApiLink>
}

const ANY_KEY = ['server', 'publishable'] as const
const SERVER_KEY = ['server'] as const

const { unauthorized, failed, unavailable, brokenJson, tooLarge, notJson, invalid, notFound, origin } = refusal
const COMMON_REFUSALS = [unauthorized, failed, unavailable]
const BODY_REFUSALS = [...COMMON_REFUSALS, brokenJson, tooLarge, notJson, invalid]

const otp_id = '$response.body#/otp_id'
const NEXT_LINKS: Record<string, ApiLink> = {
  status: { operationId: 'status', description: 'Look it up.', parameters: { otp_id } },
  resend: { operationId: 'resend', description: 'Send it again.', requestBody: { otp_id } },
  verify: { operationId: 'verify', description: 'Check the code the user entered.', requestBody: { otp_id } },
  cancel: { operationId: 'cancel', description: 'Cancel it.', requestBody: { otp_id } },
}
const EXCHANGE_LINK: Record<string, ApiLink> = {
  exchange: {
    operationId: 'exchange',
    description: 'Exchange the token on your backend, with a server key.',
    requestBody: { verification_token: '$response.body#/verification_token' },
  },
}

const OPERATIONS: readonly ClientOperation[] = [
  {
    id: 'send',
    route: ['post', '/otp/send'],
    summary: 'Start a verification',
    description:
      'Generates a code and delivers it over the channel that routing chooses for the recipient. In the two WhatsApp link modes nothing is sent yet: have the user open `action_url`. The code is never returned.',
    keys: ANY_KEY,
    request: { schema: requests.sendRequest, example: requestExamples.send },
    parameters: sendParameters,
    answer: {
      schema: answers.verification,
      description: 'The verification, pending.',
      examples: answerExamples.send,
      headers: sendAnswerHeaders,
    },
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
      refusal.challenge,
    ],
    links: NEXT_LINKS,
  },
  {
    id: 'resend',
    route: ['post', '/otp/resend'],
    summary: 'Send it again',
    description:
      'After a cooldown, re-issues the same code on the next enabled channel; once the order is exhausted, on the last usable one. With `channel`, a fresh code goes out on exactly that channel and the earlier one no longer counts.',
    keys: ANY_KEY,
    request: { schema: requests.resendRequest, example: requestExamples.resend },
    parameters: [CHALLENGE_SOLUTION_PARAMETER],
    answer: {
      schema: answers.verification,
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
      refusal.challenge,
    ],
  },
  {
    id: 'verify',
    route: ['post', '/otp/verify'],
    summary: 'Check a code',
    description:
      'A wrong code is not an error: `matched` is false and `attempts_left` counts down; the last one fails the verification. A publishable key gets a `verification_token` for a right code, which your backend exchanges: what a device says is no proof. The key that verified may repeat the call for 60 s, while the code is valid and its token is not exchanged, because the answer may have been lost; after that the right code is refused too. Accept an `otp_id` once.',
    keys: ANY_KEY,
    request: { schema: requests.verifyRequest, example: requestExamples.verify },
    answer: { schema: answers.verified, description: 'Whether the code was right.', examples: answerExamples.verify },
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
    route: ['get', '/otp/{otp_id}'],
    summary: 'Look a verification up',
    description: 'How far a verification got. Server keys also see its deliveries.',
    keys: ANY_KEY,
    request: null,
    parameters: [OTP_ID_PARAMETER],
    answer: {
      schema: answers.verificationDetails,
      description: 'The verification as it is now.',
      examples: answerExamples.status,
    },
    refusals: [...COMMON_REFUSALS, notFound, origin],
  },
  {
    id: 'cancel',
    route: ['post', '/otp/cancel'],
    summary: 'Cancel a verification',
    description: 'Its code and link are dead from then on. Canceling twice gives the same answer.',
    keys: SERVER_KEY,
    request: { schema: requests.cancelRequest, example: requestExamples.cancel },
    answer: {
      schema: answers.verification,
      description: 'The verification, canceled.',
      examples: answerExamples.cancel,
    },
    refusals: [...BODY_REFUSALS, notFound, refusal.notPending, refusal.expired],
  },
  {
    id: 'exchange',
    route: ['post', '/verifications/exchange'],
    summary: 'Exchange a verification token',
    description:
      'Exchanges a token produced on a device for the recipient it proves. This is the only trustworthy proof that a user controls a number. Repeating the call with the same API key gives the same answer for as long as the token lives: accept an `otp_id` once.',
    keys: SERVER_KEY,
    request: { schema: requests.exchangeRequest, example: requestExamples.exchange },
    answer: { schema: answers.exchanged, description: 'Who was verified.', examples: answerExamples.exchange },
    refusals: [...BODY_REFUSALS, refusal.noSuchToken],
  },
]

const clientOperation = ({
  route: [method, path],
  keys,
  request,
  parameters = [],
  answer,
  ...rest
}: ClientOperation): ApiOperation => ({
  ...rest,
  method,
  path: `/api/v1${path}`,
  security: keys.map(kind => [kind]),
  parameters,
  request: request && { ...request, required: true },
  answers: [{ ...answer, status: 200 }],
})

export const CLIENT_API: ApiPart = {
  tag: {
    name: 'Verifications',
    description:
      'What an app and its backend call. Unknown members of a body are ignored, except those that differ from a known one only in case, hyphens or underscores, and `to`, `phone`, `number` or `email` in place of `recipient`: they are refused. Null in an optional member is the same as absent.',
  },
  securitySchemes: {
    server: { type: 'http', scheme: 'bearer', description: 'A server key (`sk_…`). Never leaves your backend.' },
    publishable: { type: 'http', scheme: 'bearer', description: 'A publishable key (`pk_…`), for apps and web pages.' },
  },
  operations: OPERATIONS.map(clientOperation),
  webhooks: WEBHOOKS,
}
