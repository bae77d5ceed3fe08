// Recipients with a fixed fate, for test keys only: a developer sees every outcome and every error without waiting for one.
import type { ErrorType } from './errors.ts'
import type { Mode } from './otp.ts'

/** What the sandbox plays for a message to a recipient. */
export type SandboxScenario = 'delivered' | 'failed' | 'late' | 'twice' | 'disorder' | 'silent' | 'fallback'

export type Magic = { refuses: ErrorType } | { plays: SandboxScenario }

const MAGIC_RECIPIENTS: readonly [number: string, name: string, fate: Magic][] = [
  ['+15005550001', 'invalid', { refuses: 'InvalidRecipientError' }],
  ['+15005550002', 'no-channel', { refuses: 'NoEnabledChannelError' }],
  ['+15005550003', 'geo', { refuses: 'GeoBlockedError' }],
  ['+15005550004', 'funds', { refuses: 'InsufficientFundsError' }],
  ['+15005550005', 'ip', { refuses: 'IpReputationBlockedError' }],
  ['+15005550006', 'rate', { refuses: 'RateLimitExceededError' }],
  ['+15005550010', 'delivered', { plays: 'delivered' }],
  ['+15005550011', 'failed', { plays: 'failed' }],
  ['+15005550012', 'late', { plays: 'late' }],
  ['+15005550013', 'twice', { plays: 'twice' }],
  ['+15005550014', 'disorder', { plays: 'disorder' }],
  ['+15005550015', 'silent', { plays: 'silent' }],
  ['+15005550016', 'fallback', { plays: 'fallback' }],
]

const BY_RECIPIENT = new Map(
  MAGIC_RECIPIENTS.flatMap(([number, name, magic]) => [
    [number, magic] as const,
    [`${name}@magic.test`, magic] as const,
  ]),
)

/** Null for one like any other. */
export const magicOf = (mode: Mode, recipient: string): Magic | null =>
  mode === 'test' ? (BY_RECIPIENT.get(recipient) ?? null) : null
