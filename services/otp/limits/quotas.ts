// Which limits a send or a message counts against, in the order in which they answer. Nothing here counts.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { AppSettings, LimitRule } from '../../../machines/settings.ts'
import { type AppMode, addressCounter, counterKey, recipientCounter } from '../../domain/verifications/counter-names.ts'
import type { Reputation } from './reputation.ts'
import type { Counted } from './windows.ts'

export interface Quota extends Counted {
  scope: LimitScope
}

type Indexer = Pick<Keyring, 'indexes'>

export interface SendQuotaInput extends AppMode {
  limits: AppSettings['limits']
  /** Its keyed indexes, the current one first; null for a recipient that skips the limits of its own. */
  recipient: readonly string[] | null
  address: { value: string; reputation: Reputation } | null
  /** Whether a message goes out now: a wa.me link is none. */
  message: boolean
}

export function sendQuotas(keyring: Indexer, send: SendQuotaInput): Quota[] {
  const { limits, recipient, address, message } = send
  const quotas: Quota[] = []
  if (recipient !== null) {
    const name = recipientCounter(send, 'sends', recipient)
    quotas.push({ scope: 'recipient', ...name, rules: limits.recipient })
  }
  if (address !== null) quotas.push(addressQuota(keyring, send, address))
  quotas.push(
    address === null
      ? { scope: 'app_without_client_ip', key: counterKey(send, 'without_ip'), rules: limits.app_without_client_ip }
      : { scope: 'app', key: counterKey(send, 'with_ip'), rules: limits.app },
  )
  if (recipient !== null && message) quotas.push(messageQuota(send, recipient, limits))
  return quotas
}

/** Resends count here as well. */
export const messageQuota = (appMode: AppMode, recipient: readonly string[], limits: AppSettings['limits']): Quota => ({
  scope: 'recipient',
  ...recipientCounter(appMode, 'messages', recipient),
  rules: limits.recipient_messages,
})

/** Apart for what servers and what devices started, so that a stranger cannot lock anyone out of a server's verifications. */
export const guessQuota = (
  appMode: AppMode,
  recipient: readonly string[],
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient_verify',
  ...recipientCounter(appMode, `guesses:${startedBy}`, recipient),
  rules: limits.recipient_verify,
})

/** One counter for an address; a suspect one gets a share of the same limit. */
function addressQuota(
  keyring: Indexer,
  appMode: SendQuotaInput,
  address: NonNullable<SendQuotaInput['address']>,
): Quota {
  const name = addressCounter(keyring, appMode, address.value)
  const { client_ip: rules, client_ip_reputation_factor: share } = appMode.limits
  return address.reputation === 'suspect'
    ? { scope: 'client_ip_reputation', ...name, rules: rules.map(rule => scaleRule(rule, share)) }
    : { scope: 'client_ip', ...name, rules }
}

const scaleRule = (rule: LimitRule, share: number): LimitRule => ({ ...rule, max: Math.floor(rule.max * share) })
