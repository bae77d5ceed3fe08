// In: a declared error, or anything thrown. Out: RFC 9457 problem+json. The one list of errors with their status and title.
import { STATUS_CODES } from 'node:http'
import type { ErrorType } from '../../machines/errors.ts'
import { CallTimeout, Unroutable } from '../broker/broker.ts'
import { Unavailable } from '../unavailable.ts'

const ERRORS: Record<ErrorType, { status: number; title: string }> = {
  InvalidRecipientError: { status: 422, title: 'The recipient is not a valid phone number or email address' },
  NoEnabledChannelError: { status: 409, title: 'No enabled channel can reach the recipient' },
  GeoBlockedError: { status: 403, title: "The recipient's country is blocked" },
  InsufficientFundsError: { status: 402, title: 'The balance is not enough to send' },
  IpReputationBlockedError: { status: 403, title: 'The client address is a known source of abuse' },
  RateLimitExceededError: { status: 429, title: 'Too many requests' },
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
  ServiceUnavailableError: { status: 503, title: 'The service cannot answer now' },
}

/** Members beside the standard ones (`errors`, `scope`, `otp_status`, …) and response headers. */
export interface Extras {
  detail?: string
  members?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Throw it anywhere below the HTTP shell. */
export class Problem extends Error {
  override name = 'Problem'
  readonly type: string
  readonly status: number
  readonly title: string
  readonly extras: Extras

  constructor(type: string, status: number, title: string, extras: Extras) {
    super(extras.detail ?? title)
    this.type = type
    this.status = status
    this.title = title
    this.extras = extras
  }
}

export const problem = (type: ErrorType, extras: Extras = {}): Problem =>
  new Problem(type, ERRORS[type].status, ERRORS[type].title, extras)

/** What HTTP itself refuses: unknown route, bad key, broken JSON, too large. */
export const httpException = (status: number, detail?: string, headers?: Record<string, string>): Problem =>
  new Problem('HTTPException', status, STATUS_CODES[status] ?? 'Error', {
    ...(detail === undefined ? {} : { detail }),
    ...(headers === undefined ? {} : { headers }),
  })

const RETRY_AFTER_SECONDS = '1'

/** Anything thrown becomes a problem; what is not one of ours shows nothing of its inside. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  if (thrown instanceof Unavailable || thrown instanceof CallTimeout || thrown instanceof Unroutable)
    return problem('ServiceUnavailableError', {
      detail: 'It may or may not have been executed. Retry with the same idempotency key.',
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    })
  return httpException(refusalStatus(thrown) ?? 500)
}

/** koa and its parsers throw errors that carry a client-error status. */
function refusalStatus(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown)) return undefined
  const { status } = thrown
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined
}

export const problemBody = (failure: Problem, requestId: string): Record<string, unknown> => ({
  type: failure.type,
  title: failure.title,
  status: failure.status,
  detail: failure.extras.detail ?? `${failure.title}.`,
  request_id: requestId,
  ...failure.extras.members,
})
