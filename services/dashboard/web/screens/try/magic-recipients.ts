// The magic recipients in words. In: the list that the sandbox itself uses. Out: what a send to each of them does.
import { MAGIC_RECIPIENTS, type Magic, type SandboxScenario } from '../../../../../machines/magic-recipients.ts'

export interface MagicRecipient {
  number: string
  address: string
  outcome: string
}

const SCENARIOS: Readonly<Record<SandboxScenario, string>> = {
  delivered: 'Sent, then delivered',
  failed: 'Sent, then the delivery fails',
  late: 'Delivered after 30 s',
  twice: 'Reported as delivered twice; one event',
  disorder: 'Reported as delivered before it was sent, then as failed; it stays delivered',
  silent: 'Sent; no receipt ever comes',
  fallback: 'Fails on the first channel, delivered on the next',
}

const REFUSALS: Readonly<Record<string, string>> = {
  InvalidRecipientError: 'it is no valid number or address',
  NoEnabledChannelError: 'no channel can reach it',
  GeoBlockedError: 'its country is blocked',
  InsufficientFundsError: 'the balance is spent',
  IpReputationBlockedError: "the caller's address is blocked",
  RateLimitExceededError: 'a limit is reached',
}

const outcomeOf = (magic: Magic): string =>
  'scenario' in magic ? SCENARIOS[magic.scenario] : `Refused: ${REFUSALS[magic.refuses] ?? magic.refuses}`

/** Those that are delivered first, because a newcomer begins with them. */
export const magicRecipients: readonly MagicRecipient[] = [...MAGIC_RECIPIENTS]
  .sort(([, , one], [, , other]) => Number('refuses' in one) - Number('refuses' in other))
  .map(([number, name, magic]) => ({ number, address: `${name}@magic.test`, outcome: outcomeOf(magic) }))

/** One that simply works. */
export const WORKING_RECIPIENT = magicRecipients[0]?.number ?? ''
