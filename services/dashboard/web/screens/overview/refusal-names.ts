// The types of refusals in words. In: a type of error of the API. Out: why sends were refused with it.
import type { Schemas } from '../../api/client.ts'

const NAMES: Readonly<Record<Schemas['ErrorType'], string>> = {
  HTTPException: 'The request could not be read',
  ValidationError: 'A field of the request is not valid',
  InvalidRecipientError: 'Not a valid phone number or email address',
  InvalidIdempotencyKeyError: 'The idempotency key is not valid',
  NoEnabledChannelError: 'No enabled channel reaches the recipient',
  GeoBlockedError: "The recipient's country is blocked",
  RecipientBlockedError: 'The recipient wrote STOP',
  IpReputationBlockedError: 'The client address is known for abuse',
  InsufficientFundsError: 'The balance is not enough',
  RateLimitExceededError: 'A limit was reached',
  ResendCooldownError: 'Resent too soon',
  ResendNotAllowedError: 'Resent too often, or on a channel that cannot be used',
  OtpNotFoundError: 'No such verification',
  OtpNotPendingError: 'The verification is over',
  OtpExpiredError: 'The verification has expired',
  VerifyNotAllowedError: 'It cannot be verified this way',
  PublishableSendDisabledError: 'Devices may not send',
  OriginNotAllowedError: 'The origin is not allowed',
  ChallengeRequiredError: 'A device had to solve a challenge first',
  IdempotencyConflictError: 'A key was used for another credit',
  StepUpRequiredError: 'A person had to prove again who they are',
  ServiceUnavailableError: 'Countersign was not available',
}

export const refusalName = (type: Schemas['ErrorType']): string => NAMES[type] ?? type
