// All errors of the API with their status and title, and the problems that callers get. The types are part of the public contract.
import { type ErrorKind, type Extras, INFRA_ERRORS, type Problem, problemOfKind } from '../../infra/http/problem.ts'
import { isoTime } from '../../infra/iso-time.ts'
import type { Refusal } from '../../machines/calls.ts'
import type { Challenge } from '../../machines/challenge.ts'
import type { ErrorType } from '../../machines/errors.ts'
import type { InputProblem } from './tenancy/problems.ts'

const ERRORS: Record<ErrorType, ErrorKind> = {
  InvalidRecipientError: { status: 422, title: 'The recipient is not a valid phone number or email address' },
  NoEnabledChannelError: { status: 409, title: 'No enabled channel can reach the recipient' },
  GeoBlockedError: { status: 403, title: "The recipient's country is blocked" },
  RecipientBlockedError: { status: 403, title: 'The recipient gets no messages' },
  InsufficientFundsError: { status: 402, title: 'The balance is not enough to send' },
  IpReputationBlockedError: { status: 403, title: 'The client address is a known source of abuse' },
  RateLimitExceededError: INFRA_ERRORS.RateLimitExceededError,
  InvalidIdempotencyKeyError: { status: 422, title: 'The idempotency key is not valid' },
  ResendNotAllowedError: { status: 409, title: 'This verification cannot be resent' },
  ResendCooldownError: { status: 429, title: 'Too soon to resend' },
  ValidationError: { status: 422, title: 'The request is not valid' },
  OtpNotFoundError: { status: 404, title: 'No such verification' },
  OtpNotPendingError: { status: 409, title: 'The verification is no longer pending' },
  OtpExpiredError: { status: 410, title: 'The verification has expired' },
  VerifyNotAllowedError: { status: 409, title: 'This verification cannot be verified this way' },
  PublishableSendDisabledError: { status: 403, title: 'Sending with a publishable key is switched off' },
  OriginNotAllowedError: { status: 403, title: 'The origin is not allowed' },
  ChallengeRequiredError: { status: 403, title: 'A challenge must be solved first' },
  IdempotencyConflictError: { status: 409, title: 'The idempotency key was used for something else' },
  StepUpRequiredError: { status: 403, title: 'Prove again who you are' },
  ServiceUnavailableError: INFRA_ERRORS.ServiceUnavailableError,
}

export const isErrorType = (type: string): type is ErrorType => Object.hasOwn(ERRORS, type)

/** Thrown anywhere in a route: the HTTP shell answers with it. */
export const problem = (type: ErrorType, extras: Extras = {}): Problem => problemOfKind(type, ERRORS[type], extras)

/** A refusal for lack of time or of a caller, before anything was executed: clients may repeat any such call. */
export const notExecuted = (reason: string, extras: Omit<Extras, 'detail' | 'members'> = {}): Problem =>
  problem('ServiceUnavailableError', {
    ...extras,
    detail: `${reason} Nothing was executed.`,
    members: { executed: false },
  })

const MAX_IN_DETAIL = 10
/** Every member of a body may be a problem, and an answer of all of them would be many times as long as the body. */
const MAX_ERRORS = 100

/** The answer to a body or query that is not valid: every problem by its path, as many as help. `detail` says the first
 *  ones in words, for people who read a log. */
export function validationProblem(errors: readonly InputProblem[]): Problem {
  const sentences = errors.slice(0, MAX_IN_DETAIL).map(({ path, message }) => `${path || 'The body'} ${message}`)
  const more = errors.length > MAX_IN_DETAIL ? [`and ${errors.length - MAX_IN_DETAIL} more`] : []
  return problem('ValidationError', {
    detail: [...sentences, ...more].join('; ').replace(/[^.?]$/, '$&.'),
    members: { errors: errors.slice(0, MAX_ERRORS) },
  })
}

const shownChallenge = (challenge: Challenge) =>
  challenge.type === 'pow' ? { ...challenge, expires_at: isoTime(challenge.expires_at) } : challenge

/** The answer to a call that the OTP actor refused. */
export function refusalProblem({
  error,
  detail,
  scope,
  retry_after_ms,
  executed,
  otp_status,
  cause,
  challenge,
  channels,
  errors,
}: Refusal): Problem {
  const seconds = retry_after_ms === undefined ? undefined : Math.max(1, Math.ceil(retry_after_ms / 1000))
  return problem(error, {
    detail,
    members: {
      ...(scope === undefined ? {} : { scope }),
      ...(seconds === undefined || error === 'ServiceUnavailableError' ? {} : { retry_after: seconds }),
      ...(executed === undefined ? {} : { executed }),
      ...(otp_status === undefined ? {} : { otp_status }),
      ...(cause === undefined ? {} : { cause }),
      ...(challenge === undefined ? {} : { challenge: shownChallenge(challenge) }),
      ...(channels === undefined ? {} : { channels }),
      ...(errors === undefined ? {} : { errors }),
    },
    ...(seconds === undefined ? {} : { headers: { 'Retry-After': String(seconds) } }),
  })
}
