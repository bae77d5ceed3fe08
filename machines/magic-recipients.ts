// Magic recipients: with a test key, a send to one of them has a fixed outcome, so that a developer can try each error and each receipt.
import type { ErrorType } from './errors.ts'
import type { Mode } from './otp.ts'

/** Which receipts the sandbox sends for a message. */
export type SandboxScenario = 'delivered' | 'failed' | 'late' | 'twice' | 'disorder' | 'silent' | 'fallback'

/** In words, for the pages that list them. */
export const SCENARIOS: Readonly<Record<SandboxScenario, string>> = {
  delivered: 'Sent, then delivered',
  failed: 'Sent, then the delivery fails',
  late: 'Sent; the receipt comes after 30 seconds',
  twice: 'Sent; the receipt comes twice, and you get one event',
  disorder: 'Delivered before it was sent, then failed, which changes nothing',
  silent: 'Sent; no receipt ever comes',
  fallback: 'Fails on the first channel, is delivered on the next: with `auto_fallback`, or after a resend',
}

export type Magic = { refuses: ErrorType } | { scenario: SandboxScenario }

/** Each is a phone number, and an email address `<name>@magic.test`. */
export const MAGIC_RECIPIENTS: readonly [number: string, name: string, magic: Magic][] = [
  ['+15005550001', 'invalid', { refuses: 'InvalidRecipientError' }],
  ['+15005550002', 'no-channel', { refuses: 'NoEnabledChannelError' }],
  ['+15005550003', 'geo', { refuses: 'GeoBlockedError' }],
  ['+15005550004', 'funds', { refuses: 'InsufficientFundsError' }],
  ['+15005550005', 'ip', { refuses: 'IpReputationBlockedError' }],
  ['+15005550006', 'rate', { refuses: 'RateLimitExceededError' }],
  ['+15005550010', 'delivered', { scenario: 'delivered' }],
  ['+15005550011', 'failed', { scenario: 'failed' }],
  ['+15005550012', 'late', { scenario: 'late' }],
  ['+15005550013', 'twice', { scenario: 'twice' }],
  ['+15005550014', 'disorder', { scenario: 'disorder' }],
  ['+15005550015', 'silent', { scenario: 'silent' }],
  ['+15005550016', 'fallback', { scenario: 'fallback' }],
]

const BY_RECIPIENT = new Map(
  MAGIC_RECIPIENTS.flatMap(([number, name, magic]) => [
    [number, magic] as const,
    [`${name}@magic.test`, magic] as const,
  ]),
)

/** Null for an ordinary recipient. */
export const magicOf = (mode: Mode, recipient: string): Magic | null =>
  mode === 'test' ? (BY_RECIPIENT.get(recipient) ?? null) : null
