// The magic recipients in words. In: the list that the sandbox itself uses. Out: what a send to each of them does.
import { MAGIC_RECIPIENTS, type Magic, SCENARIOS } from '../../../../../machines/magic-recipients.ts'

export interface MagicRecipient {
  number: string
  address: string
  outcome: string
}

const REFUSALS: Readonly<Record<string, string>> = {
  InvalidRecipientError: 'it is no valid number or address',
  NoEnabledChannelError: 'no channel can reach it',
  GeoBlockedError: 'its country is blocked',
  InsufficientFundsError: 'the balance is spent',
  IpReputationBlockedError: "the caller's address is blocked",
  RateLimitExceededError: 'a limit is reached',
}

const magicOutcome = (magic: Magic): string =>
  'scenario' in magic
    ? SCENARIOS[magic.scenario].replaceAll('`', '')
    : `Refused: ${REFUSALS[magic.refuses] ?? magic.refuses}`

/** Those that are delivered first, because a newcomer begins with them. */
export const magicRecipients: readonly MagicRecipient[] = [...MAGIC_RECIPIENTS]
  .sort(([, , one], [, , other]) => Number('refuses' in one) - Number('refuses' in other))
  .map(([number, name, magic]) => ({ number, address: `${name}@magic.test`, outcome: magicOutcome(magic) }))

/** One that simply works. */
export const WORKING_RECIPIENT = magicRecipients[0]?.number ?? ''
