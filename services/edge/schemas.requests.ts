// The bodies of requests, as schemas. The edge parses with the same objects that the OpenAPI document is generated from, so the document
// says what is enforced. Unknown members are ignored, unless they are a known one misspelt (validation.ts), and null in an optional
// member is the same as absent.

import { z } from 'zod'
import { isIpAddress } from '../../infra/ip-address.ts'
import { SAMPLE_NUMBER } from '../../machines/sample-number.ts'
import { androidHash, domain } from '../../machines/settings.values.ts'
import { HALF_CHARACTERS, isWhole } from '../domain/tenancy/problems.ts'
import { channel } from '../domain/tenancy/value-schemas.ts'
import { enteredCode } from '../domain/verifications/entered-code.ts'
import {
  MAX_METADATA_BYTES,
  MAX_METADATA_MEMBERS,
  MAX_METADATA_VALUE_LENGTH,
  METADATA_NAME,
} from '../domain/verifications/metadata.ts'

const text = () => z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be a string') })

const body = <Shape extends z.ZodRawShape>(shape: Shape) => z.object(shape, 'must be a JSON object')

/** Any text: one that cannot be an id gets the same answer as an unknown id. */
const otpId = text().meta({
  description: 'The verification, as `send` returned it.',
  examples: ['otp_01k2m8x4e9s7v3hqz5tnw6yb0c'],
})

/** What the caller finds a verification by. */
export const metadata = z
  .record(
    z
      .string()
      .regex(METADATA_NAME, 'has a name that is not allowed: names have 1 to 40 of A–Z, a–z, 0–9, `_`, `.` and `-`'),
    z
      .string('must be a string')
      .max(MAX_METADATA_VALUE_LENGTH, `must have at most ${MAX_METADATA_VALUE_LENGTH} characters`)
      .refine(isWhole, HALF_CHARACTERS),
    'must be an object of strings',
  )
  .refine(
    given => Object.keys(given).length <= MAX_METADATA_MEMBERS,
    `must have at most ${MAX_METADATA_MEMBERS} members`,
  )
  .refine(
    given => Buffer.byteLength(JSON.stringify(given)) <= MAX_METADATA_BYTES,
    `must take at most ${MAX_METADATA_BYTES} bytes as JSON`,
  )

export const sendRequest = body({
  // Any text is accepted here: the actor refuses an invalid recipient with an error type of its own. The pattern is documentation.
  recipient: text().meta({
    description: 'An E.164 phone number (`+<digits>`) or an email address.',
    pattern: '^(\\+[1-9]\\d{6,14}|[^@\\s]+@[^@\\s]+)$',
    examples: [SAMPLE_NUMBER, 'ada@example.com'],
  }),
  locale: z
    .string('must be a string')
    .nullish()
    .meta({
      description:
        "The language of the message, such as `en` or `pt-BR`. Otherwise, or when it is malformed, the app's own.",
      examples: ['en'],
    }),
  client_ip: z
    .string('must be a string')
    .refine(isIpAddress, 'must be an IPv4 or IPv6 address')
    .nullish()
    .meta({
      description:
        "The IPv4 or IPv6 address of the end user, not of your server. A private or reserved one counts as absent. A publishable key must not send it: the connection's own address is used.",
      examples: ['203.0.113.7'],
    }),
  app_hash: androidHash.nullish().meta({
    description:
      "The SMS Retriever hash of your Android app, one of the app's `channels.sms.android_hashes`: an SMS ends with it. Without it an SMS ends with the line for browsers, where the app has domains.",
    examples: ['FA+9qCX9VSu'],
  }),
  domain: domain.nullish().meta({
    description:
      "Which of the app's `channels.sms.domains` an SMS ends with; otherwise the first. Server keys only: a page gets its own.",
    examples: ['example.com'],
  }),
  metadata: metadata.nullish().meta({
    description: `Up to ${MAX_METADATA_MEMBERS} strings of your own, such as an order number, by which you find the verification again. They are never in messages. Server keys only.`,
    maxProperties: MAX_METADATA_MEMBERS,
    examples: [{ order: 'A-1042' }],
  }),
}).meta({ id: 'SendRequest', description: 'Starts a verification.' })

/** What a send is parsed with. There is no such member as `channel`, but a caller who gives one expects it to count, so it is refused. */
export const sendBody = sendRequest.extend({
  channel: z.null('cannot be chosen on send: routing chooses it').optional(),
})

/** A code that an app's own login made. */
const GIVEN_CODE = /^[A-Za-z0-9]{4,10}$/

export const messageRequest = sendRequest
  .pick({ recipient: true, locale: true, client_ip: true })
  .extend({
    code: text()
      .regex(GIVEN_CODE, 'must have 4 to 10 letters or digits')
      .meta({ description: 'The code that you made: 4 to 10 letters or digits.', examples: ['482913'] }),
    expires_in_seconds: z
      .int('must be a whole number')
      .min(30, 'must be at least 30')
      .max(86_400, 'must be at most 86400')
      .nullish()
      .meta({
        description:
          'How long your code is valid. The message says so, in minutes; without it no message says how long. It is not sent any more once this time, or ten minutes, are over.',
        examples: [300],
      }),
  })
  .meta({ id: 'MessageRequest', description: 'Delivers a code that you made.' })

/** As of a send. */
export const messageBody = messageRequest.extend({ channel: sendBody.shape.channel })

export const resendRequest = body({
  otp_id: otpId,
  channel: channel.nullish().meta({
    description:
      'Moves the verification onto exactly this channel, with a fresh code. Without it the same code goes out on the next enabled channel.',
  }),
}).meta({ id: 'ResendRequest', description: 'Sends a verification again.' })

export const verifyRequest = body({
  otp_id: otpId,
  code: enteredCode(text()).meta({
    description:
      'What the user entered. White space and hyphens are dropped, and decimal digits of any script count as 0 to 9. What is left must be 4 to 10 digits: anything else is refused, and is no attempt.',
    minLength: 4,
    examples: ['123456'],
  }),
}).meta({ id: 'VerifyRequest', description: 'Checks a code.' })

export const cancelRequest = body({ otp_id: otpId }).meta({ id: 'CancelRequest', description: 'Ends a verification.' })

const TOKEN_PREFIX = 'otp_vt_'
export const MAX_TOKEN_LENGTH = 128

export const exchangeRequest = body({
  verification_token: text()
    .startsWith(TOKEN_PREFIX, `must begin with ${TOKEN_PREFIX}`)
    .max(MAX_TOKEN_LENGTH, `must have at most ${MAX_TOKEN_LENGTH} characters`)
    .meta({ description: 'What the mobile SDK handed to your app.' }),
}).meta({ id: 'ExchangeRequest', description: 'Exchanges a token for the recipient it proves.' })

/** On an answer to a call that gave an address which cannot be a user's. */
export const NOTICE_HEADER = 'Countersign-Notice'
export const CLIENT_IP_NOT_PUBLIC = 'client_ip_not_public'

/** On an answer that an earlier call with the same idempotency key got first. */
export const REPLAYED_HEADER = 'Idempotent-Replayed'
export const MAX_IDEMPOTENCY_KEY_LENGTH = 128
