// In: a problem. Out: the error that Twilio's API would answer: `code`, `message`, `more_info` and `status`. Its
// clients decide by `code`, so every refusal has the one that Twilio uses for it
// (https://www.twilio.com/docs/api/errors).
import type { Context } from 'koa'
import type { Problem } from '../../../infra/http/problem.ts'
import type { LimitScope, Refusal } from '../../../machines/calls.ts'
import type { NotAllowedCause } from '../../../machines/otp.ts'

/** Also what the document says of each. */
export const TWILIO_ERRORS = {
  authenticate: { code: 20003, status: 401, message: 'Authenticate' },
  method: { code: 20004, status: 405, message: 'Method not allowed' },
  noFunds: { code: 20005, status: 403, message: 'Account not active: its balance is not enough to send' },
  notFound: { code: 20404, status: 404, message: 'The requested resource was not found' },
  tooMany: { code: 20429, status: 429, message: 'Too many requests' },
  invalid: { code: 60200, status: 400, message: 'Invalid parameter' },
  checksSpent: { code: 60202, status: 429, message: 'Max check attempts reached' },
  sendsSpent: { code: 60203, status: 429, message: 'Max send attempts reached' },
  customCode: { code: 60204, status: 403, message: 'Custom code not allowed' },
  cooldown: { code: 60212, status: 429, message: 'Too many concurrent requests for phone number' },
  channelOff: { code: 60223, status: 403, message: 'Delivery channel is disabled' },
  blocked: { code: 60410, status: 403, message: 'Verification delivery attempt blocked' },
  country: { code: 60605, status: 403, message: 'Verification delivery attempt blocked: the country is not enabled' },
} as const

export interface TwilioError {
  code: number
  status: number
  message: string
}

export const bodyOf = ({ code, message, status }: TwilioError) => ({
  code,
  message,
  more_info: `https://www.twilio.com/docs/errors/${code}`,
  status,
})

export function answerProblem(ctx: Context, failure: Problem): void {
  const error = errorOf(failure, ctx)
  if (error.status === 401) ctx.set('WWW-Authenticate', 'Basic realm="countersign"')
  ctx.status = error.status
  ctx.body = bodyOf(error)
}

function errorOf(failure: Problem, ctx: Context): TwilioError {
  const { type, status, extras } = failure
  const { scope, cause, otp_status, channels, errors } = (extras.members ?? {}) as Partial<Refusal> & {
    errors?: { path: string; message: string }[]
  }
  switch (type) {
    case 'ValidationError':
      if (errors?.some(({ path }) => path === 'CustomCode')) return TWILIO_ERRORS.customCode
      return invalid((errors ?? []).map(({ path, message }) => `\`${parameterOf(path)}\` ${message}`).join('; '))
    case 'InvalidRecipientError':
      return invalid('`To` must be a valid phone number in E.164 format, or an email address')
    case 'NoEnabledChannelError':
      return channels?.find(({ channel }) => channel === ctx.state.askedChannel)?.reason === 'recipient'
        ? invalid('`Channel` cannot reach `To`')
        : TWILIO_ERRORS.channelOff
    case 'ResendNotAllowedError':
      return resendError(cause, ctx)
    case 'ResendCooldownError':
      return TWILIO_ERRORS.cooldown
    case 'RateLimitExceededError':
      // `api_key` is no limit of an app.
      return LIMIT_ERRORS[scope ?? 'app'] ?? TWILIO_ERRORS.tooMany
    case 'GeoBlockedError':
      return TWILIO_ERRORS.country
    case 'IpReputationBlockedError':
    case 'RecipientBlockedError':
      return TWILIO_ERRORS.blocked
    case 'InsufficientFundsError':
      return TWILIO_ERRORS.noFunds
    case 'OtpNotPendingError':
      return otp_status === 'failed' ? TWILIO_ERRORS.checksSpent : notFound(ctx)
    // One that a message approves, or that a device started, has no code that could be checked here.
    case 'VerifyNotAllowedError':
    case 'OtpExpiredError':
    case 'OtpNotFoundError':
      return notFound(ctx)
  }
  if (status === 401) return TWILIO_ERRORS.authenticate
  if (status === 404) return notFound(ctx)
  if (status === 405) return TWILIO_ERRORS.method
  // Twilio's codes for statuses of HTTP.
  return { code: 20_000 + status, status, message: failure.message }
}

/** What the OTP actor refuses has the names of the other API. */
const parameterOf = (path: string): string => (path === 'app_hash' ? 'AppHash' : path)

const invalid = (what: string): TwilioError => ({ ...TWILIO_ERRORS.invalid, message: `Invalid parameter: ${what}` })

const notFound = ({ path }: Context): TwilioError => ({
  ...TWILIO_ERRORS.notFound,
  message: `The requested resource ${path.replace(/^\/compat\/twilio\/v2/, '')} was not found`,
})

function resendError(cause: NotAllowedCause | undefined, ctx: Context): TwilioError {
  if (cause === 'send_attempts_spent') return TWILIO_ERRORS.sendsSpent
  // It ended between the look-up and the resend.
  if (cause === 'not_pending') return notFound(ctx)
  return cause === 'channel_cannot_reach_recipient' ? invalid('`Channel` cannot reach `To`') : TWILIO_ERRORS.channelOff
}

const LIMIT_ERRORS: Record<LimitScope, TwilioError> = {
  recipient: TWILIO_ERRORS.sendsSpent,
  resend_cooldown: TWILIO_ERRORS.cooldown,
  recipient_verify: TWILIO_ERRORS.checksSpent,
  fraud_guard: TWILIO_ERRORS.blocked,
  client_ip: TWILIO_ERRORS.tooMany,
  client_ip_reputation: TWILIO_ERRORS.tooMany,
  app: TWILIO_ERRORS.tooMany,
  app_without_client_ip: TWILIO_ERRORS.tooMany,
  app_hooks: TWILIO_ERRORS.tooMany,
  spend_cap: TWILIO_ERRORS.tooMany,
}
