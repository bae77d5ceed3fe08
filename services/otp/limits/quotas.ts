// Which limits a send or a message counts against, in the order in which they answer. Nothing here counts.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { LimitScope } from '../../../machines/calls.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import type { AppSettings, LimitRule } from '../../../machines/settings.ts'
import { addressCounter, counterKey, recipientCounter, type World } from '../../domain/verifications/counting.ts'
import type { Reputation } from './reputation.ts'
import type { Counted } from './windows.ts'

export interface Quota extends Counted {
  scope: LimitScope
}

type Indexing = Pick<Keyring, 'indexes'>

export interface SendQuotas extends World {
  limits: AppSettings['limits']
  /** Its keyed indexes, the current one first; null for a recipient that skips the limits of its own. */
  recipient: readonly string[] | null
  address: { value: string; reputation: Reputation } | null
  /** Whether a message goes out now: a wa.me link is none. */
  message: boolean
}

export function sendQuotas(keyring: Indexing, send: SendQuotas): Quota[] {
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
export const messageQuota = (world: World, recipient: readonly string[], limits: AppSettings['limits']): Quota => ({
  scope: 'recipient',
  ...recipientCounter(world, 'messages', recipient),
  rules: limits.recipient_messages,
})

/** Apart for what servers and what devices started, so that a stranger cannot lock anyone out of a server's verifications. */
export const guessQuota = (
  world: World,
  recipient: readonly string[],
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient_verify',
  ...recipientCounter(world, `guesses:${startedBy}`, recipient),
  rules: limits.recipient_verify,
})

/** One counter for an address; a suspect one gets a share of the same limit. */
function addressQuota(keyring: Indexing, world: SendQuotas, address: NonNullable<SendQuotas['address']>): Quota {
  const name = addressCounter(keyring, world, address.value)
  const { client_ip: rules, client_ip_reputation_factor: share } = world.limits
  return address.reputation === 'suspect'
    ? { scope: 'client_ip_reputation', ...name, rules: rules.map(rule => scaled(rule, share)) }
    : { scope: 'client_ip', ...name, rules }
}

const scaled = (rule: LimitRule, share: number): LimitRule => ({ ...rule, max: Math.floor(rule.max * share) })
