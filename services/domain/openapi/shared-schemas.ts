// The schemas that both APIs answer with: states, kinds and the problem. Each has an id, so that generators make one type of it, and a
// name that no generator makes by itself from an object and its member (`VerificationStatus` would be the `status` of `Verification`).
import { z } from 'zod'
import { HTTP_CODES } from '../../../infra/http/problem.ts'
import { LIMIT_SCOPES } from '../../../machines/calls.ts'
import { WIDGET_VENDORS } from '../../../machines/challenge.ts'
import { CHANNEL_REASONS } from '../../../machines/channels.ts'
import { ERROR_TYPES } from '../../../machines/errors.ts'
import {
  COMPLETIONS,
  DELIVERY_STATUSES,
  FAILURE_REASONS,
  KEY_KINDS,
  MESSAGE_STATUSES,
  MODES,
  NOT_ALLOWED_CAUSES,
  OTP_STATUSES,
  RECIPIENT_KINDS,
} from '../../../machines/otp.ts'
import { channel } from '../../../machines/settings.values.ts'

/** An enum of every `Name`: a name that is missing here is a type error. */
export const enumOf = <Name extends string>(names: Record<Name, true>) =>
  z.enum(Object.keys(names) as [Name, ...Name[]])

export const timeSchema = (description: string) => z.iso.datetime().meta({ description })

export const jsonObject = z
  .record(z.string(), z.unknown())
  .meta({ id: 'JsonObject', description: 'An object with any members.' })

export const otpStatus = z.enum(OTP_STATUSES).meta({
  id: 'OtpStatus',
  description: 'The state of a verification. Only `pending` can change. `failed`: the verify attempts were used up.',
})

export const messageStatus = z.enum(MESSAGE_STATUSES).meta({
  id: 'MessageStatus',
  description:
    'The state of a message. `expired`: no receipt came in ten minutes, as with a provider that sends none; a later one still counts. `canceled`: its recipient was erased.',
})

export const savedStatus = z.enum([...new Set([...OTP_STATUSES, ...MESSAGE_STATUSES])]).meta({
  id: 'RecordStatus',
  description:
    'The state of a verification or a message: only a verification is `approved`, only a message `delivered`.',
})

export const completion = z.enum(COMPLETIONS).meta({
  id: 'Completion',
  description: "`code`: the user enters a code. `inbound`: the user's WhatsApp message approves.",
})

export const deliveryStatus = z.enum(DELIVERY_STATUSES).meta({
  id: 'DeliveryStatus',
  description: 'The state of one message. `delivered` and `failed` are final. Without receipts it stays `sent`.',
})

export const failureReason = z.enum(FAILURE_REASONS).meta({
  id: 'FailureReason',
  description:
    'Why a message failed. `recipient_unreachable`: the number or address cannot be reached. `provider_failed`: every provider failed, or one reported that the message was lost. `no_answer`: what became of it is not known. `superseded`: the verification had ended, or a newer code was sent. `no_provider`: no provider was usable. `insufficient_funds`: it could not be paid.',
})

export const lateReceipt = z.enum(['delivered']).meta({
  id: 'LateReceipt',
  description:
    'A receipt said that the message arrived, within 72 hours after it had failed. Its status stays as it was told, and what was refunded is charged again.',
})

export const recipientType = z.enum(RECIPIENT_KINDS).meta({
  id: 'RecipientType',
  description: 'What kind of recipient it is.',
})

export const keyKind = z.enum(KEY_KINDS).meta({
  id: 'KeyKind',
  description: '`server` keys stay on your backend, `publishable` keys are for apps and web pages.',
})

export const keyMode = z.enum(MODES).meta({
  id: 'Mode',
  description: '`live` reaches people and costs money. `test` stays in the sandbox.',
})

export const problemType = z
  .enum(['HTTPException', ...ERROR_TYPES])
  .meta({ id: 'ErrorType', description: 'The stable name of an error.' })

export const limitScope = z
  .enum([...LIMIT_SCOPES, 'operator_token', 'api_key', 'sign_in', 'provider_test', 'invitations', 'settings_trial'])
  .meta({ id: 'LimitScope', description: 'Which limit was hit.' })

export const notAllowedCause = z.enum(NOT_ALLOWED_CAUSES).meta({
  id: 'NotAllowedCause',
  description:
    'Why a resend or a verify is not allowed. `channel_…`: why the channel that the call names is not usable.',
})

export const channelReason = z.enum(CHANNEL_REASONS).meta({
  id: 'ChannelReason',
  description:
    "Why a send does not use a channel. `off`: the app's settings do not allow it. `recipient`: email reaches addresses, the other channels phone numbers. `number_kind`: the app does not use the channel for numbers of this kind. `country`: no provider of the channel serves the country. `no_provider`: the channel has none. `provider_paused`: those that serve the country are paused. `stopped`: the recipient asked for no more messages on it (STOP). `code_length`: the app's codes have more digits than the channel takes. `not_in_order`: the routing order leaves it out.",
})

const refusedChannel = z
  .object({ channel: channel.meta({ description: 'The channel.' }), reason: channelReason })
  .meta({ id: 'RefusedChannel', description: 'A channel, and what it lacks.' })

const inputProblem = z
  .object({
    path: z.string().meta({ description: 'Dotted. Empty for a problem of the whole body.' }),
    message: z.string().meta({ description: 'What is expected.' }),
  })
  .meta({ id: 'InputProblem', description: 'One problem with a request.' })

const powChallenge = z
  .object({
    type: z.literal('pow').meta({ description: 'Proof of work.' }),
    algorithm: z.literal('SHA-256').meta({ description: 'What is computed.' }),
    salt: z.string().meta({ description: 'Begins the text that is hashed.' }),
    difficulty: z.int().min(1).meta({ description: 'With how many zero bits the hash must begin.' }),
    signature: z.string().meta({ description: 'Goes back with the solution.' }),
    expires_at: timeSchema('Until when a solution is accepted.'),
  })
  .meta({
    id: 'PowChallenge',
    description:
      'Find a decimal number of at most 16 digits, the nonce, for which SHA-256 of `<salt>.<nonce>` begins with `difficulty` zero bits. Repeat the call with the header `challenge-solution: <salt>.<nonce>.<signature>`.',
  })

const widgetVendor = z
  .enum(WIDGET_VENDORS)
  .meta({ id: 'WidgetVendor', description: 'Who makes the widget of a challenge: Cloudflare or hCaptcha.' })

const widgetChallenge = z
  .object({
    type: widgetVendor.meta({ description: 'Whose widget it is.' }),
    site_key: z.string().meta({ description: 'With which the page shows it.' }),
  })
  .meta({
    id: 'WidgetChallenge',
    description:
      "Show the vendor's widget in a page of an origin that the app lists. Repeat the call with the token that it gives in the header `challenge-solution`. The token is good for one call.",
  })

const challenge = z
  .union([powChallenge, widgetChallenge])
  .meta({ id: 'Challenge', description: 'What a device solves, as the app has set it.' })

const stepUpWay = z.enum(['passkey', 'code', 'token']).meta({
  id: 'StepUpWay',
  description: '`token`: the operator’s. `code`: sent to the address of the user.',
})

const httpCode = z
  .enum(HTTP_CODES)
  .meta({ id: 'HttpErrorCode', description: 'On `HTTPException`: which of them, where callers tell them apart.' })

export const problemDetails = z
  .object({
    type: problemType.meta({ description: 'The stable name of the error.' }),
    title: z.string().meta({ description: 'The error in a few words.' }),
    status: z.int().meta({ description: 'The HTTP status.' }),
    detail: z.string().meta({ description: 'For people.' }),
    request_id: z.string().meta({ description: 'The same as the X-Request-Id header.' }),
    doc_url: z.string().meta({
      description: 'The page that says what to do about this type; without `PUBLIC_URL` a path of this deployment.',
    }),
    code: httpCode.optional(),
    errors: z
      .array(inputProblem)
      .optional()
      .meta({ description: 'On `ValidationError`: the problems with the request, the first 100 of them.' }),
    scope: limitScope.optional().meta({ description: 'On 429: which limit was hit.' }),
    retry_after: z.int().min(1).optional().meta({ description: 'On 429: seconds, as in Retry-After.' }),
    executed: z.boolean().optional().meta({
      description:
        'On 503: `false` where nothing was executed, so that any call may be repeated. Absent where that is not known.',
    }),
    otp_status: otpStatus.optional().meta({
      description: 'On `OtpNotPendingError`, and on `ResendNotAllowedError` with the cause `not_pending`: its state.',
    }),
    cause: notAllowedCause.optional().meta({ description: 'On `ResendNotAllowedError` and `VerifyNotAllowedError`.' }),
    challenge: challenge.optional().meta({ description: 'On `ChallengeRequiredError`: what to solve.' }),
    channels: z
      .array(refusedChannel)
      .optional()
      .meta({ description: 'On `NoEnabledChannelError` to a server key: what each channel lacks.' }),
    step_up: z
      .array(stepUpWay)
      .optional()
      .meta({ description: 'On `StepUpRequiredError`: how the caller can prove it, the best way first.' }),
  })
  .meta({ id: 'Problem', description: 'Every error (RFC 9457).' })
