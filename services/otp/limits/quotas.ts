// Which limits apply to a send, a message or a guess. In: the app, its limits, the recipient, the client address. Out: quotas; if several
// are full, the first one refuses. Nothing is counted here. Every limit is per app and mode today; none spans the apps of a company.
//
// A new limit also needs its scope in `LimitScope` (machines/calls.ts), its rules in `LimitSettings` (machines/settings.ts) and its counter
// in services/domain/verifications/counter-names.ts. The type check then names the other places: the schema of the settings, the text of
// the refusal and the scopes in the API's description.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { AppSettings, LimitRule } from '../../../machines/settings.ts'
import { addressCounters, counterKey, recipientCounter } from '../../domain/verifications/counter-names.ts'
import type { AppMode } from '../../domain/verifications/lookup-indexes.ts'
import type { Reputation } from './reputation.ts'
import type { Limit } from './windows.ts'

export interface Quota extends Limit {
  scope: LimitScope
}

type Indexer = Pick<Keyring, 'indexes'>

export interface SendQuotaInput extends AppMode {
  limits: AppSettings['limits']
  /** Of the API key that makes the call. */
  kind: KeyKind
  /** The recipient's keyed indexes, the current one first; null for a magic recipient, which is not limited. */
  recipientIndexes: readonly string[] | null
  address: { value: string; reputation: Reputation } | null
  /** False when the caller gets a wa.me link and no message is sent. */
  sendsMessage: boolean
}

/** Anyone can read a publishable key. So what a recipient gets, and sends without an address, are counted apart for the two kinds of key:
 *  a stranger cannot use up the sends of the app's servers. */
export function sendQuotas(keyring: Indexer, send: SendQuotaInput): Quota[] {
  const { limits, kind, recipientIndexes, address, sendsMessage } = send
  const quotas: Quota[] = []
  if (recipientIndexes !== null) {
    const name = recipientCounter(send, `sends:${kind}`, recipientIndexes)
    quotas.push({ scope: 'recipient', ...name, rules: limits.recipient })
  }
  if (address !== null) quotas.push(...addressQuotas(keyring, send, address))
  quotas.push(
    address === null
      ? {
          scope: 'app_without_client_ip',
          key: counterKey(send, 'without_ip', kind),
          rules: limits.app_without_client_ip,
        }
      : { scope: 'app', key: counterKey(send, 'with_ip'), rules: limits.app },
  )
  if (recipientIndexes !== null && sendsMessage) quotas.push(messageQuota(send, recipientIndexes, kind, limits))
  return quotas
}

/** Counts every message to the recipient, including resends, fallbacks and answers in the chat. `startedBy`: the kind of key that started
 *  the verification. */
export const messageQuota = (
  appMode: AppMode,
  recipientIndexes: readonly string[],
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient',
  ...recipientCounter(appMode, `messages:${startedBy}`, recipientIndexes),
  rules: limits.recipient_messages,
})

/** Wrong codes are counted apart for verifications that servers and that devices started, so that an attacker with a publishable key
 *  cannot lock a recipient out of the server's verifications. */
export const guessQuota = (
  appMode: AppMode,
  recipientIndexes: readonly string[],
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient_verify',
  ...recipientCounter(appMode, `guesses:${startedBy}`, recipientIndexes),
  rules: limits.recipient_verify,
})

/** One quota for an IPv4 address, one for each network of an IPv6 address. A suspect address has the same counters and gets a share of
 *  their limits. */
function addressQuotas(
  keyring: Indexer,
  send: SendQuotaInput,
  address: NonNullable<SendQuotaInput['address']>,
): Quota[] {
  const { limits } = send
  const isSuspect = address.reputation === 'suspect'
  const scope = isSuspect ? 'client_ip_reputation' : 'client_ip'
  const share = isSuspect ? limits.client_ip_reputation_factor : 1
  return addressCounters(keyring, send, address.value).map(({ limitFactor, ...name }) => ({
    scope,
    ...name,
    rules: limits.client_ip.map(rule => scaleRule(rule, limitFactor * share)),
  }))
}

const scaleRule = (rule: LimitRule, factor: number): LimitRule => ({ ...rule, max: Math.floor(rule.max * factor) })
