// Refused sends and resends, in words. In: the type of an error, and the limit that was hit. Out: what it means, and what to do.
import type { Schemas } from '../../api/schema.ts'

export type RefusalType = Schemas['ErrorType']
export type LimitScope = Schemas['LimitScope']

export interface RefusalWords {
  /** A few words, for a list. */
  title: string
  means: string
  todo: string
  /** Where it is done. */
  screen?: '/routing' | '/providers' | '/limits' | '/settings' | '/money' | '/api-keys' | '/queues'
}

const REFUSALS: Readonly<Record<RefusalType, RefusalWords>> = {
  InvalidRecipientError: {
    title: 'Not a recipient',
    means:
      'The text is neither a phone number that exists nor an email address, or it is a number of a kind that the app refuses, such as premium rate.',
    todo: 'Ask the person to check it. A number needs its country code, such as +44.',
    screen: '/limits',
  },
  NoEnabledChannelError: {
    title: 'No channel',
    means: 'No channel that is switched on and has a provider can reach this recipient.',
    todo: 'Switch a channel on, or add a provider for it.',
    screen: '/routing',
  },
  GeoBlockedError: {
    title: 'Country blocked',
    means: "The settings of the app block the number's country.",
    todo: 'Allow the country if you want to send there.',
    screen: '/limits',
  },
  RecipientBlockedError: {
    title: 'Stopped by the recipient',
    means: 'The person wrote STOP on every channel that could be used.',
    todo: 'Nothing is sent until they write START there. Ask for another number, or use another channel.',
    screen: '/limits',
  },
  InsufficientFundsError: {
    title: 'Not enough money',
    means: "The company's balance does not cover the price of the message.",
    todo: 'Credit the company.',
    screen: '/money',
  },
  IpReputationBlockedError: {
    title: 'Address blocked',
    means: "The client's address is on a list of abusive addresses.",
    todo: 'If the person is honest, another network helps. Operators change the lists.',
    screen: '/limits',
  },
  RateLimitExceededError: {
    title: 'Too many requests',
    means: 'A limit was reached.',
    todo: 'Wait until the limit has room again, or raise it if honest people reach it.',
    screen: '/limits',
  },
  ResendCooldownError: {
    title: 'Resent too soon',
    means: 'The cooldown after the previous send was not over.',
    todo: 'The person waits a moment and asks again. The app may show the time left.',
    screen: '/settings',
  },
  ResendNotAllowedError: {
    title: 'Resend not allowed',
    means: 'The verification had ended, its send attempts were used up, or no other channel was usable.',
    todo: 'Start a new verification.',
  },
  InvalidIdempotencyKeyError: {
    title: 'Bad idempotency key',
    means: 'The idempotency key is too long.',
    todo: 'Correct the call in your code: at most 128 characters.',
  },
  ValidationError: {
    title: 'Bad request',
    means: 'The body of the request lacks a member, or has one of the wrong type.',
    todo: 'Correct the call in your code. Its answer names each member.',
  },
  OtpNotFoundError: {
    title: 'No such verification',
    means: 'The key sees no verification with this id: it is of another app or mode, or was erased.',
    todo: 'Check that the call uses the key of the same app and mode as the send.',
    screen: '/api-keys',
  },
  OtpNotPendingError: {
    title: 'Already ended',
    means: 'The verification was approved, failed or canceled before.',
    todo: 'Start a new verification.',
  },
  OtpExpiredError: {
    title: 'Expired',
    means: 'The verification had expired.',
    todo: 'Start a new verification.',
  },
  VerifyNotAllowedError: {
    title: 'Not verified this way',
    means: "A device's verification is proved by exchange, and one by WhatsApp message is approved by that message.",
    todo: 'Exchange the verification token on the backend instead.',
  },
  PublishableSendDisabledError: {
    title: 'Device may not send',
    means: 'A publishable key tried to send in live mode, which this app does not allow.',
    todo: 'Send from your backend, or allow it in the settings of the app.',
    screen: '/settings',
  },
  OriginNotAllowedError: {
    title: 'Origin not allowed',
    means: 'The call came from a web page whose origin the app does not list.',
    todo: "Add the page's origin to the allowed origins of the app.",
    screen: '/settings',
  },
  ChallengeRequiredError: {
    title: 'Challenge asked',
    means: 'A device was asked to solve a challenge before it may send. One that solves it repeats the call at once.',
    todo: 'Nothing, if a send of the same recipient follows. If none does, the page or app does not solve challenges yet.',
    screen: '/limits',
  },
  IdempotencyConflictError: {
    title: 'Key used twice',
    means: 'An idempotency key named a credit of another amount. Sends are never refused so.',
    todo: 'Nothing: the person who credits uses another key.',
  },
  StepUpRequiredError: {
    title: 'Proof asked',
    means: 'A person was asked to prove again who they are. Sends are never refused so.',
    todo: 'Nothing: the dashboard asks the person by itself.',
  },
  ServiceUnavailableError: {
    title: 'Not available',
    means: 'Countersign was overloaded, or a database or queue did not answer in time.',
    todo: 'The caller repeats the call with its idempotency key. If it lasts, look at the queues.',
    screen: '/queues',
  },
  HTTPException: {
    title: 'Refused call',
    means: 'The key was missing, revoked or of the wrong kind, or the request could not be read.',
    todo: 'Check the key and the content type of the call.',
    screen: '/api-keys',
  },
}

const SCOPES: Readonly<Record<LimitScope, string>> = {
  recipient: 'Too many messages to this recipient.',
  client_ip: "Too many sends from the client's address.",
  client_ip_reputation: "Too many sends from the client's address, which is a VPN, proxy, Tor or datacenter address.",
  app: 'Too many sends of the whole app.',
  app_without_client_ip: "Too many sends of the app without a client's address.",
  app_hooks: "Too many codes of the app's own login without an address of its user.",
  recipient_verify: 'Too many wrong codes for this recipient.',
  resend_cooldown: 'The cooldown after the previous send was not over.',
  fraud_guard: 'The fraud guard took the send for SMS pumping.',
  spend_cap: "The app's daily spend cap of the country was reached.",
  provider_test: 'Too many test calls of providers.',
  operator_token: 'Too many wrong operator tokens from this address.',
  api_key: 'Too many calls with unknown API keys from this address.',
  sign_in: 'Too many attempts to sign in.',
  invitations: 'Too many invitations in a day.',
  settings_trial: 'Other settings of the company were being tried.',
}

export const REFUSAL_TYPES = Object.keys(REFUSALS) as RefusalType[]

export const isRefusalType = (text: string): text is RefusalType => Object.hasOwn(REFUSALS, text)

export const scopeText = (scope: LimitScope): string => SCOPES[scope] ?? scope

/** The scope of a limit says more than the type alone. */
export function refusalWords(type: RefusalType, scope: LimitScope | null): RefusalWords {
  const words = REFUSALS[type] ?? { title: type, means: 'The send was refused.', todo: '' }
  return scope === null ? words : { ...words, means: scopeText(scope) }
}
