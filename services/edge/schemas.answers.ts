// The bodies of responses, as schemas. The types of the handlers and the OpenAPI document come from them.
import { z } from 'zod'
import type { LimitScope } from '../../machines/calls.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { DeliveryStatus, FailureReason, NotAllowedCause, OtpStatus } from '../../machines/otp.ts'
import { channel } from './schemas.requests.ts'

/** An enum of every `Name`: a name that is missing here is a type error. */
const enumOf = <Name extends string>(names: Record<Name, true>) => z.enum(Object.keys(names) as [Name, ...Name[]])

const timeSchema = (description: string) => z.iso.datetime().meta({ description })

export const otpStatus = enumOf<OtpStatus>({
  pending: true,
  approved: true,
  failed: true,
  expired: true,
  canceled: true,
}).meta({ description: 'Only `pending` can change. `failed`: the verify attempts were used up.' })

const otpId = z.string().meta({ description: 'Identifies the verification.' })
const attemptsLeft = z.int().min(0).meta({ description: 'Wrong codes that may still be entered.' })

export const verification = z
  .object({
    otp_id: otpId,
    status: otpStatus,
    channel: channel.meta({ description: 'The channel the verification is on.' }),
    masked_recipient: z.string().meta({ description: 'Safe to log or display.' }),
    action_url: z.string().nullable().meta({
      description: 'A wa.me link for the user to open. Null except in the two WhatsApp link modes.',
    }),
    completion: z.enum(['code', 'inbound']).meta({
      description: "`code`: the user enters a code. `inbound`: the user's WhatsApp message approves.",
    }),
  })
  .meta({ description: 'A verification.' })

const deliveryStatus = enumOf<DeliveryStatus>({ queued: true, sent: true, delivered: true, failed: true })

const failureReason = enumOf<FailureReason>({
  recipient_unreachable: true,
  provider_failed: true,
  no_answer: true,
  superseded: true,
  no_provider: true,
  insufficient_funds: true,
})

export const delivery = z
  .object({
    delivery_id: z.string(),
    channel,
    status: deliveryStatus,
    reason: failureReason.optional().meta({
      description:
        'Why it failed; present where `status` is `failed`. `recipient_unreachable`: the number or address cannot be reached. ' +
        '`provider_failed`: every provider failed, or one reported that the message was lost. `no_answer`: what became of it is not known. ' +
        '`superseded`: the verification had ended, or a newer code was sent. `no_provider`: no provider was usable. ' +
        '`insufficient_funds`: a fallback or an answer in the chat could not be paid.',
    }),
    created_at: timeSchema('When it was accepted.'),
    updated_at: timeSchema('When its status last changed.'),
  })
  .meta({ description: 'One message on its way to the recipient.' })

export const verificationStatus = verification
  .extend({
    created_at: timeSchema('When it was sent first.'),
    expires_at: timeSchema('When its code stops being valid.'),
    verified_at: timeSchema('When it was approved.').nullable(),
    attempts_left: attemptsLeft,
    resend_at: timeSchema('When the cooldown ends; null when no resend is left.').nullable(),
    deliveries: z.array(delivery).optional().meta({ description: 'Shown to server keys only.' }),
  })
  .meta({ description: 'A verification and how far it got.' })

export const verified = z
  .object({
    otp_id: otpId,
    status: otpStatus,
    matched: z.boolean().meta({ description: 'Whether the code was right. On a device it is only a hint.' }),
    attempts_left: attemptsLeft,
    verification_token: z.string().nullable().meta({
      description: 'Given when a publishable key verified a right code: your backend exchanges it.',
    }),
  })
  .meta({ description: 'What became of a code. A wrong one is a state, not an error.' })

export const exchanged = z
  .object({
    otp_id: otpId,
    recipient: z.string().meta({ description: 'The verified recipient in full.' }),
    recipient_type: z.enum(['phone', 'email']),
    channel: channel.meta({ description: 'The channel the verified code was delivered on.' }),
    verified_at: timeSchema('When the user entered the right code.'),
  })
  .meta({ description: 'The recipient a token proves.' })

export const problemType = enumOf<ErrorType | 'HTTPException'>({
  HTTPException: true,
  ValidationError: true,
  InvalidRecipientError: true,
  InvalidIdempotencyKeyError: true,
  NoEnabledChannelError: true,
  GeoBlockedError: true,
  IpReputationBlockedError: true,
  InsufficientFundsError: true,
  RateLimitExceededError: true,
  ResendCooldownError: true,
  ResendNotAllowedError: true,
  OtpNotFoundError: true,
  OtpNotPendingError: true,
  OtpExpiredError: true,
  VerifyNotAllowedError: true,
  PublishableSendDisabledError: true,
  OriginNotAllowedError: true,
  ServiceUnavailableError: true,
})

const limitScope = enumOf<LimitScope>({
  recipient: true,
  client_ip: true,
  client_ip_reputation: true,
  app: true,
  app_without_client_ip: true,
  recipient_verify: true,
  resend_cooldown: true,
  fraud_guard: true,
  spend_cap: true,
})

const notAllowedCause = enumOf<NotAllowedCause>({
  not_pending: true,
  send_attempts_spent: true,
  no_usable_channel: true,
  channel_disabled: true,
  channel_no_provider: true,
  channel_cannot_reach_recipient: true,
  channel_no_business_number: true,
  channel_not_provable_by_device: true,
  approved_by_message: true,
  proved_by_exchange: true,
})

export const problemDetails = z
  .object({
    type: problemType.meta({ description: 'The stable name of the error.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'For people.' }),
    request_id: z.string().meta({ description: 'The same as the X-Request-Id header.' }),
    errors: z
      .array(z.object({ path: z.string().meta({ description: 'Dotted.' }), message: z.string() }))
      .optional()
      .meta({ description: 'On `ValidationError`: every problem with the body.' }),
    scope: limitScope.optional().meta({ description: 'On 429: which limit was hit.' }),
    retry_after: z.int().min(1).optional().meta({ description: 'On 429: seconds, as in Retry-After.' }),
    otp_status: otpStatus.optional().meta({
      description: 'On `OtpNotPendingError`, and on `ResendNotAllowedError` with the cause `not_pending`: its state.',
    }),
    cause: notAllowedCause.optional().meta({
      description:
        'On `ResendNotAllowedError` and `VerifyNotAllowedError`: why. `channel_…`: why the channel that the call names is not usable.',
    }),
  })
  .meta({ description: 'Every error (RFC 9457).' })

export type Verification = z.output<typeof verification>
export type VerificationStatus = z.output<typeof verificationStatus>
export type Verified = z.output<typeof verified>
export type Exchanged = z.output<typeof exchanged>
