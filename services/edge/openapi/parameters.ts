// The parameters of the client API that are not in a body, and the headers of its answers.
import { z } from 'zod'
import type { ApiHeader, ApiParameter, ApiRefusal } from '../../../infra/openapi/operation.ts'
import { RATE_LIMIT_HEADER, RATE_LIMIT_POLICY_HEADER } from '../answers.ts'
import {
  CLIENT_IP_NOT_PUBLIC,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  NOTICE_HEADER,
  REPLAYED_HEADER,
} from '../schemas.requests.ts'

export const OTP_ID_PARAMETER: ApiParameter = {
  name: 'otp_id',
  in: 'path',
  description: 'The verification, as `send` returned it.',
  schema: z.string(),
  example: 'otp_01k2m8x4e9s7v3hqz5tnw6yb0c',
}

export const MESSAGE_ID_PARAMETER: ApiParameter = {
  name: 'message_id',
  in: 'path',
  description: 'The message, as `sendMessage` returned it.',
  schema: z.string(),
  example: 'msg_01k2m8x4e9s7v3hqz5tnw6yb0c',
}

/** The parameter of send and resend. */
export const CHALLENGE_SOLUTION_PARAMETER: ApiParameter = {
  name: 'challenge-solution',
  in: 'header',
  description:
    'Of publishable keys: the solution of the challenge that a 403 `ChallengeRequiredError` brought, as `<salt>.<nonce>.<signature>`. It is good for five minutes and once, for the same key and recipient, or the same `otp_id`; a call that is refused for another reason leaves it good. Where the challenge is a widget: its token, which is good for one call.',
  schema: z.string(),
}

const idempotencyKey = (description: string): ApiParameter => ({
  name: 'idempotency-key',
  in: 'header',
  description,
  schema: z.string().max(MAX_IDEMPOTENCY_KEY_LENGTH),
})

export const messageParameters: readonly ApiParameter[] = [
  idempotencyKey(
    'As on send: a repeat gets the first response and sends nothing. Those of messages and of sends are kept apart.',
  ),
]

export const sendParameters: readonly ApiParameter[] = [
  idempotencyKey(
    'Names this send. A repeat with the same key gets the first response and sends no second code, even if its body names another recipient. The body of a repeat is checked like any other: one that is not valid is refused (`ValidationError`, `InvalidRecipientError`), and nothing else is checked again. It counts within your company, the mode and the kind of API key, for 24 hours by default.',
  ),
  CHALLENGE_SOLUTION_PARAMETER,
]

/** The headers of answers to send, resend, verify and a message. */
export const rateLimitAnswerHeaders: Record<string, ApiHeader> = {
  [RATE_LIMIT_HEADER]: {
    description:
      'For server keys: how far the limit nearest to its end is used, as `"<scope>";r=<left>;t=<seconds until there is one more>`. Absent where no limit counted the call.',
    schema: z.string(),
  },
  [RATE_LIMIT_POLICY_HEADER]: {
    description:
      'The rule of that limit: `"<scope>";q=<how many>;w=<in how many seconds>`. Absent where what refuses is no such rule: the cooldown, the fraud guard or the spend cap.',
    schema: z.string(),
  },
}

/** A refusal by a limit brings the headers too. */
export const withRateLimit = (refusals: readonly ApiRefusal[]): ApiRefusal[] =>
  refusals.map(one => (one.status === 429 ? { ...one, headers: rateLimitAnswerHeaders } : one))

export const sendAnswerHeaders: Record<string, ApiHeader> = {
  ...rateLimitAnswerHeaders,
  [NOTICE_HEADER]: {
    description: 'The `client_ip` is a private or reserved address, and counted as absent. Absent otherwise.',
    schema: z.literal(CLIENT_IP_NOT_PUBLIC),
  },
  [REPLAYED_HEADER]: {
    description:
      'An earlier call with the same `idempotency-key` made this verification, and this is its answer: nothing was sent. Absent otherwise.',
    schema: z.literal('true'),
  },
}
