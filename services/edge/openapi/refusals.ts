// Every refusal of the client API.
import { httpException } from '../../../infra/http/problem.ts'
import type { ApiRefusal } from '../../../infra/openapi/operation.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import { commonRefusal, documentRefusal, errorRefusal } from '../../domain/openapi/refusals.ts'

const limitRefusal = (scope: LimitScope, when: string): ApiRefusal =>
  errorRefusal('RateLimitExceededError', when, { scope, retry_after: 42 })

export const refusal = {
  ...commonRefusal,
  unauthorized: documentRefusal(
    'The key is missing, unknown, revoked or of the wrong kind, or its app is closed.',
    httpException(401),
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
  recipient: errorRefusal('InvalidRecipientError', 'The recipient is no valid phone number or email address.'),
  idempotencyKey: errorRefusal('InvalidIdempotencyKeyError', 'The idempotency key is longer than 128 characters.'),
  noChannel: errorRefusal('NoEnabledChannelError', 'No enabled channel can reach the recipient.'),
  geo: errorRefusal('GeoBlockedError', "The recipient's country is blocked."),
  reputation: errorRefusal('IpReputationBlockedError', 'The client address is a known source of abuse.'),
  funds: errorRefusal('InsufficientFundsError', 'The balance is not enough to send.'),
  sendDisabled: errorRefusal(
    'PublishableSendDisabledError',
    'The app does not let publishable keys send or resend in live mode.',
  ),
  origin: errorRefusal('OriginNotAllowedError', 'A publishable key was used in a page the app does not list.'),
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
  notFound: errorRefusal('OtpNotFoundError', 'No verification of this app and mode has this id.'),
  notPending: errorRefusal('OtpNotPendingError', 'It is in a final state.', { otp_status: 'approved' }),
  expired: errorRefusal('OtpExpiredError', 'It has expired.'),
  verifyNotAllowed: errorRefusal(
    'VerifyNotAllowedError',
    'It is approved by a WhatsApp message, or was started by a publishable key and is proved by exchange; `cause` names it.',
    { cause: 'proved_by_exchange' },
  ),
}
