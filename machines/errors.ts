// The error types of the public API. Their HTTP status and title are in services/domain/errors.ts.
export const ERROR_TYPES = [
  'ValidationError',
  'InvalidRecipientError',
  'InvalidIdempotencyKeyError',
  'NoEnabledChannelError',
  'GeoBlockedError',
  'IpReputationBlockedError',
  'InsufficientFundsError',
  'RateLimitExceededError',
  'ResendCooldownError',
  'ResendNotAllowedError',
  'OtpNotFoundError',
  'OtpNotPendingError',
  'OtpExpiredError',
  'VerifyNotAllowedError',
  'PublishableSendDisabledError',
  'OriginNotAllowedError',
  'ChallengeRequiredError',
  'StepUpRequiredError',
  'IdempotencyConflictError',
  'ServiceUnavailableError',
] as const
export type ErrorType = (typeof ERROR_TYPES)[number]
