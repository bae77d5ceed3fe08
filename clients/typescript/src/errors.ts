// What a call throws. Every `type` of the API is a class of the same name below CountersignError, so that both
// `error instanceof ResendCooldownError` and `error.type === 'ResendCooldownError'` decide.
import type { Problem } from './types.ts'

export class CountersignError extends Error {
  /** The stable name of the error. One that this version does not know is a plain CountersignError. */
  readonly type: string
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** Names the call in the server's log; empty when no answer came. */
  readonly request_id: string
  /** In how many seconds the call may be repeated; null where the answer does not say. */
  readonly retry_after: number | null
  /** False: certainly nothing was executed, so that any call may be repeated. Null: not known. */
  readonly executed: boolean | null
  /** The answer's body, with members that only some types have: `otp_status`, `cause`, `channels`, `challenge`. */
  readonly problem: Partial<Problem>

  constructor(
    type: string,
    message: string,
    { status = 0, request_id = '', retry_after = null, executed = null, problem = {}, cause }: ErrorFacts = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = type
    this.type = type
    this.status = status
    this.request_id = request_id
    this.retry_after = retry_after
    this.executed = executed
    this.problem = problem
  }

  /** On `ValidationError`: what is wrong with the request. */
  get errors(): Problem['errors'] {
    return this.problem.errors
  }

  /** On 429: which limit was hit. */
  get scope(): Problem['scope'] {
    return this.problem.scope
  }
}

interface ErrorFacts {
  status?: number
  request_id?: string
  retry_after?: number | null
  executed?: boolean | null
  problem?: Partial<Problem>
  cause?: unknown
}

export class HTTPException extends CountersignError {}
export class ValidationError extends CountersignError {}
export class InvalidRecipientError extends CountersignError {}
export class InvalidIdempotencyKeyError extends CountersignError {}
export class NoEnabledChannelError extends CountersignError {}
export class GeoBlockedError extends CountersignError {}
export class RecipientBlockedError extends CountersignError {}
export class IpReputationBlockedError extends CountersignError {}
export class InsufficientFundsError extends CountersignError {}
export class RateLimitExceededError extends CountersignError {}
export class ResendCooldownError extends CountersignError {}
export class ResendNotAllowedError extends CountersignError {}
export class OtpNotFoundError extends CountersignError {}
export class OtpNotPendingError extends CountersignError {}
export class OtpExpiredError extends CountersignError {}
export class VerifyNotAllowedError extends CountersignError {}
export class PublishableSendDisabledError extends CountersignError {}
export class OriginNotAllowedError extends CountersignError {}
export class ChallengeRequiredError extends CountersignError {}
export class ServiceUnavailableError extends CountersignError {}

/** No answer came: the server could not be reached, or not in time. The call may have been executed. */
export class ConnectionError extends CountersignError {}
/** `verifyWebhook` refused a request: it is forged, stale or not an event. */
export class WebhookVerificationError extends CountersignError {}
