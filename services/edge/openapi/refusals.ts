// Every refusal of the client API.
import { httpException } from '../../../infra/http/problem.ts'
import type { ApiRefusal } from '../../../infra/openapi/operation.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import { commonRefusal, documentRefusal, errorRefusal } from '../../domain/openapi/refusals.ts'

const limitRefusal = (scope: LimitScope, when: string): ApiRefusal =>
  errorRefusal('RateLimitExceededError', when, { scope, retry_after: 42 })

/** Its salt carries the difficulty and the time. */
const CHALLENGE_EXAMPLE = {
  type: 'pow',
  algorithm: 'SHA-256',
  salt: 'EAG43V114FDYWOCYXsx_YEGKrwzFq1h_',
  difficulty: 16,
  signature: 'n3Y1m7lXk0bB2l8O6uQvS4cWz5tRj9pFhGdA1eIoMwE',
  expires_at: '2030-01-01T12:05:00.000Z',
}

export const refusal = {
  ...commonRefusal,
  unauthorized: documentRefusal(
    'The key is missing, unknown, revoked or of the wrong kind, or its app is closed.',
    httpException(401, undefined, undefined, 'invalid_key'),
  ),
  keyLimit: errorRefusal(
    'RateLimitExceededError',
    '`api_key`: too many calls with unknown keys came from this address.',
    {
      scope: 'api_key',
      retry_after: 42,
    },
  ),
  noSuchToken: documentRefusal(
    'The token is unknown, expired, exchanged by another key or not yours: one answer for all. Do not retry.',
    httpException(404),
  ),
  unavailable: errorRefusal(
    'ServiceUnavailableError',
    'The service cannot answer now. The call may have been executed: repeat it, a send with its idempotency key.',
  ),
  invalid: errorRefusal('ValidationError', 'A member of the body is missing or malformed.', {
    errors: [{ path: 'recipient', message: 'is required' }],
  }),
  recipient: errorRefusal(
    'InvalidRecipientError',
    'The recipient is no valid phone number or email address, or it is a number of a kind that the app refuses.',
  ),
  idempotencyKey: errorRefusal('InvalidIdempotencyKeyError', 'The idempotency key is longer than 128 characters.'),
  noChannel: errorRefusal(
    'NoEnabledChannelError',
    'No enabled channel can reach the recipient. A server key is told what each channel lacks.',
    {
      channels: [
        { channel: 'sms', reason: 'provider_paused' },
        { channel: 'whatsapp', reason: 'no_provider' },
        { channel: 'telegram', reason: 'off' },
        { channel: 'email', reason: 'recipient' },
      ],
    },
  ),
  geo: errorRefusal('GeoBlockedError', "The recipient's country is blocked."),
  recipientBlocked: errorRefusal(
    'RecipientBlockedError',
    'The recipient asked for no more messages (STOP) on every channel that could be used. Only server keys are told.',
    {
      channels: [
        { channel: 'sms', reason: 'stopped' },
        { channel: 'whatsapp', reason: 'off' },
        { channel: 'telegram', reason: 'off' },
        { channel: 'email', reason: 'recipient' },
      ],
    },
  ),
  reputation: errorRefusal('IpReputationBlockedError', 'The client address is a known source of abuse.'),
  funds: errorRefusal('InsufficientFundsError', 'The balance is not enough to send.'),
  sendDisabled: errorRefusal(
    'PublishableSendDisabledError',
    'The app does not let publishable keys send or resend in live mode.',
  ),
  origin: errorRefusal('OriginNotAllowedError', 'A publishable key was used in a page the app does not list.'),
  challenge: errorRefusal(
    'ChallengeRequiredError',
    'A publishable key must solve `challenge` and repeat the call with `challenge-solution`. A solution that is wrong, late, used or of another call gets a new challenge.',
    { challenge: CHALLENGE_EXAMPLE },
  ),
  sendLimit: limitRefusal('recipient', 'Too many sends; `scope` names the limit.'),
  messageLimit: limitRefusal('recipient', 'Too many messages to this recipient, or too many calls; `scope` names it.'),
  verifyLimit: limitRefusal(
    'recipient_verify',
    'Too many wrong codes for this recipient. The first code of a verification is refused only once as many first codes as the limit allows were wrong too.',
  ),
  cooldown: errorRefusal('ResendCooldownError', 'Too soon after the last send.', {
    scope: 'resend_cooldown',
    retry_after: 17,
  }),
  resend: errorRefusal(
    'ResendNotAllowedError',
    'It is not pending, its send attempts are spent, or no enabled channel is left; `cause` names it.',
    { cause: 'not_pending', otp_status: 'approved' },
  ),
  reusedCooldown: errorRefusal('ResendCooldownError', 'With `reuse_pending`: too soon after the last send.', {
    scope: 'resend_cooldown',
    retry_after: 17,
  }),
  reusedResend: errorRefusal(
    'ResendNotAllowedError',
    'With `reuse_pending`: the send attempts of the pending verification are spent, or no enabled channel is left; `cause` names it.',
    { cause: 'send_attempts_spent' },
  ),
  notFound: errorRefusal('OtpNotFoundError', 'No verification of this app and mode has this id.'),
  noMessage: errorRefusal('OtpNotFoundError', 'No message of this app and mode has this id.'),
  notPending: errorRefusal('OtpNotPendingError', 'It is in a final state.', { otp_status: 'approved' }),
  expired: errorRefusal('OtpExpiredError', 'It has expired.'),
  verifyNotAllowed: errorRefusal(
    'VerifyNotAllowedError',
    'It is approved by a WhatsApp message, or was started by a publishable key and is proved by exchange; `cause` names it.',
    { cause: 'proved_by_exchange' },
  ),
}
