// The client API, /api/v1. An operation is declared once: its method and path, which keys may call it, what it takes,
// answers and refuses, and the call that it makes to the OTP actor. The declaration is what router.ts serves, and its
// entry in the OpenAPI document.
import type { Context } from 'koa'
import type { z } from 'zod'
import {
  type ApiAnswer,
  type ApiLink,
  type ApiOperation,
  type ApiParameter,
  type ApiPart,
  type RequestLine,
  splitRequestLine,
} from '../../infra/openapi/operation.ts'
import type { Identity, OtpCall } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import type { NewRefusal } from '../domain/refusals/refusal-log.ts'
import { type Answer, messageAnswer } from './answers.ts'
import type { Calls } from './calls.ts'
import { answerExamples, requestExamples } from './openapi/examples.ts'
import {
  CHALLENGE_SOLUTION_PARAMETER,
  MESSAGE_ID_PARAMETER,
  messageParameters,
  OTP_ID_PARAMETER,
  rateLimitAnswerHeaders,
  sendAnswerHeaders,
  sendParameters,
  withRateLimit,
} from './openapi/parameters.ts'
import { refusal } from './openapi/refusals.ts'
import { WEBHOOKS } from './openapi/webhooks.ts'
import * as answers from './schemas.answers.ts'
import * as requests from './schemas.requests.ts'
import type { ReadStatus } from './status.ts'

/** What an operation asks of the OTP actor. */
interface Command<Body extends z.ZodObject> {
  schema: Body
  /** Where not every member of `schema` is for readers. */
  documentedAs?: z.ZodType
  example: unknown
  callBuilder: (calls: Calls) => (body: z.output<Body>, by: Identity, ctx: Context) => OtpCall
  /** For a call that sends a message, which costs money: its name in the record of refusals. */
  sends?: NewRefusal['call']
  /** The body of the answer; as the OTP actor's answer is, without it. */
  shape: (answer: Answer) => unknown
}

export interface ClientOperation extends ApiOperation {
  keys: readonly KeyKind[]
  /** Null for a read that the edge answers by itself. */
  command: Command<z.ZodObject> | null
  /** What is read; null for a command. */
  reads: keyof ReadStatus | null
}

interface Declaration<Body extends z.ZodObject>
  extends Pick<ApiOperation, 'id' | 'summary' | 'description' | 'links' | 'refusals'> {
  /** Its path follows /api/v1. */
  request: RequestLine
  keys: readonly KeyKind[]
  command?: Omit<Command<Body>, 'shape'> & Partial<Pick<Command<Body>, 'shape'>>
  reads?: keyof ReadStatus
  parameters?: readonly ApiParameter[]
  answer: Omit<ApiAnswer, 'status'>
}

function operation<Body extends z.ZodObject>(declared: Declaration<Body>): ClientOperation {
  const { request, command, reads = null, parameters = [], answer, refusals, ...rest } = declared
  const ofDevices = declared.keys.includes('publishable')
  const { method, path } = splitRequestLine(request)
  return {
    ...rest,
    // The cast is safe: the router calls it with what the same schema has parsed.
    command: (command ? { shape: asAnswered, ...command } : null) as ClientOperation['command'],
    reads,
    method,
    path: `/api/v1${path}`,
    security: declared.keys.map(kind => [kind]),
    parameters,
    request: command
      ? { schema: command.documentedAs ?? command.schema, example: command.example, required: true }
      : null,
    answers: [{ ...answer, status: 200 }],
    refusals: [
      refusal.unauthorized,
      refusal.keyLimit,
      refusal.failed,
      refusal.unavailable,
      ...(command ? [refusal.brokenJson, refusal.tooLarge, refusal.notJson, refusal.invalid] : []),
      ...withRateLimit(refusals),
      ...(command?.sends && ofDevices ? [refusal.sendDisabled] : []),
      ...(ofDevices ? [refusal.origin] : []),
      ...(command?.sends && ofDevices ? [refusal.challenge] : []),
    ],
  }
}

const asAnswered = (answer: Answer): unknown => answer

const ANY_KEY: readonly KeyKind[] = ['server', 'publishable']
const SERVER_KEY: readonly KeyKind[] = ['server']

const otp_id = '$response.body#/otp_id'
const NEXT_LINKS: Record<string, ApiLink> = {
  status: { operationId: 'status', description: 'Look it up.', parameters: { otp_id } },
  resend: { operationId: 'resend', description: 'Send it again.', requestBody: { otp_id } },
  verify: { operationId: 'verify', description: 'Check the code the user entered.', requestBody: { otp_id } },
  cancel: { operationId: 'cancel', description: 'Cancel it.', requestBody: { otp_id } },
}
const MESSAGE_LINK: Record<string, ApiLink> = {
  status: {
    operationId: 'messageStatus',
    description: 'Look it up.',
    parameters: { message_id: '$response.body#/message_id' },
  },
}
const EXCHANGE_LINK: Record<string, ApiLink> = {
  exchange: {
    operationId: 'exchange',
    description: 'Exchange the token on your backend, with a server key.',
    requestBody: { verification_token: '$response.body#/verification_token' },
  },
}

export const OPERATIONS: readonly ClientOperation[] = [
  operation({
    id: 'send',
    request: 'POST /otp/send',
    summary: 'Start a verification',
    description:
      'Generates a code and delivers it over the channel that routing chooses for the recipient. In the two WhatsApp link modes nothing is sent yet: have the user open `action_url`. The code is never returned.',
    keys: ANY_KEY,
    command: {
      schema: requests.sendBody,
      documentedAs: requests.sendRequest,
      example: requestExamples.send,
      callBuilder: calls => calls.send,
      sends: 'send',
    },
    parameters: sendParameters,
    answer: {
      schema: answers.verification,
      description: 'The verification, pending.',
      examples: answerExamples.send,
      headers: sendAnswerHeaders,
    },
    refusals: [
      refusal.idempotencyKey,
      refusal.recipient,
      refusal.geo,
      refusal.recipientBlocked,
      refusal.noChannel,
      refusal.reputation,
      refusal.sendLimit,
      refusal.reusedResend,
      refusal.reusedCooldown,
      refusal.funds,
    ],
    links: NEXT_LINKS,
  }),
  operation({
    id: 'resend',
    request: 'POST /otp/resend',
    summary: 'Send it again',
    description:
      'After a cooldown, re-issues the same code on the next enabled channel; once the order is exhausted, on the last usable one. With `channel`, a fresh code goes out on exactly that channel and the earlier one no longer counts.',
    keys: ANY_KEY,
    command: {
      schema: requests.resendRequest,
      example: requestExamples.resend,
      callBuilder: calls => calls.resend,
      sends: 'resend',
    },
    parameters: [CHALLENGE_SOLUTION_PARAMETER],
    answer: {
      schema: answers.verification,
      description: 'The verification on its new channel.',
      examples: answerExamples.resend,
      headers: rateLimitAnswerHeaders,
    },
    refusals: [
      refusal.notFound,
      refusal.resend,
      refusal.cooldown,
      refusal.geo,
      refusal.recipientBlocked,
      refusal.messageLimit,
      refusal.reputation,
      refusal.funds,
    ],
  }),
  operation({
    id: 'verify',
    request: 'POST /otp/verify',
    summary: 'Check a code',
    description:
      'A wrong code is not an error: `matched` is false and `attempts_left` counts down; the last one fails the verification. A publishable key gets a `verification_token` for a right code, which your backend exchanges: what a device says is no proof. The key that verified may repeat the call for 60 s, while the code is valid and its token is not exchanged, because the answer may have been lost; after that the right code is refused too. Accept an `otp_id` once.',
    keys: ANY_KEY,
    command: { schema: requests.verifyRequest, example: requestExamples.verify, callBuilder: calls => calls.verify },
    answer: {
      schema: answers.verified,
      description: 'Whether the code was right.',
      examples: answerExamples.verify,
      headers: rateLimitAnswerHeaders,
    },
    refusals: [refusal.notFound, refusal.notPending, refusal.verifyNotAllowed, refusal.expired, refusal.verifyLimit],
    links: EXCHANGE_LINK,
  }),
  operation({
    id: 'status',
    request: 'GET /otp/{otp_id}',
    summary: 'Look a verification up',
    description: 'How far a verification got. Server keys also see its deliveries.',
    keys: ANY_KEY,
    reads: 'verification',
    parameters: [OTP_ID_PARAMETER],
    answer: {
      schema: answers.verificationDetails,
      description: 'The verification as it is now.',
      examples: answerExamples.status,
    },
    refusals: [refusal.notFound],
  }),
  operation({
    id: 'cancel',
    request: 'POST /otp/cancel',
    summary: 'Cancel a verification',
    description: 'Its code and link are dead from then on. Canceling twice gives the same answer.',
    keys: SERVER_KEY,
    command: { schema: requests.cancelRequest, example: requestExamples.cancel, callBuilder: calls => calls.cancel },
    answer: {
      schema: answers.verification,
      description: 'The verification, canceled.',
      examples: answerExamples.cancel,
    },
    refusals: [refusal.notFound, refusal.notPending, refusal.expired],
  }),
  operation({
    id: 'exchange',
    request: 'POST /verifications/exchange',
    summary: 'Exchange a verification token',
    description:
      'Exchanges a token produced on a device for the recipient it proves. This is the only trustworthy proof that a user controls a number. Repeating the call with the same API key gives the same answer for as long as the token lives: accept an `otp_id` once.',
    keys: SERVER_KEY,
    command: {
      schema: requests.exchangeRequest,
      example: requestExamples.exchange,
      callBuilder: calls => calls.exchange,
    },
    answer: { schema: answers.exchanged, description: 'Who was verified.', examples: answerExamples.exchange },
    refusals: [refusal.noSuchToken],
  }),
  operation({
    id: 'sendMessage',
    request: 'POST /messages',
    summary: 'Deliver a code that you made',
    description:
      'For a login that makes and checks its own codes. Routing, texts, limits, prices and receipts are those of a verification; nothing is kept that could be verified, and the code is erased once the message is delivered, has failed or is ten minutes old. Events about it are `delivery.delivered` and `delivery.failed`, whose `otp_id` and `message_id` are its id.',
    keys: SERVER_KEY,
    command: {
      schema: requests.messageBody,
      documentedAs: requests.messageRequest,
      example: requestExamples.message,
      callBuilder: calls => calls.message,
      sends: 'message',
      shape: messageAnswer,
    },
    parameters: messageParameters,
    answer: {
      schema: answers.acceptedMessage,
      description: 'The message, pending.',
      examples: answerExamples.message,
      headers: sendAnswerHeaders,
    },
    refusals: [
      refusal.idempotencyKey,
      refusal.recipient,
      refusal.geo,
      refusal.recipientBlocked,
      refusal.noChannel,
      refusal.reputation,
      refusal.sendLimit,
      refusal.funds,
    ],
    links: MESSAGE_LINK,
  }),
  operation({
    id: 'messageStatus',
    request: 'GET /messages/{message_id}',
    summary: 'Look a message up',
    description: 'How far the delivery of a code that you made got.',
    keys: SERVER_KEY,
    reads: 'message',
    parameters: [MESSAGE_ID_PARAMETER],
    answer: {
      schema: answers.messageDetails,
      description: 'The message as it is now.',
      examples: answerExamples.messageStatus,
    },
    refusals: [refusal.noMessage],
  }),
]

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
  operations: OPERATIONS,
  webhooks: WEBHOOKS,
}
