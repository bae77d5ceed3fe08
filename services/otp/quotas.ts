// Which limits a send or a message counts against, in the order in which they answer. Nothing here counts.
import { addressBlock } from '../../infra/client-ip.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { addressScope, recipientKey, recipientScope } from '../../infra/otps/sealing.ts'
import type { Identity, LimitScope } from '../../machines/calls.ts'
import type { KeyKind } from '../../machines/otp.ts'
import type { AppSettings, LimitRule } from '../../machines/settings.ts'
import type { Counted } from './limits.ts'
import type { Reputation } from './reputation.ts'

export interface Quota extends Counted {
  scope: LimitScope
}

type World = Pick<Identity, 'app_id' | 'mode'>

const keyOf = ({ app_id, mode }: World, ...parts: string[]): string => [app_id, mode, ...parts].join(':')

export interface SendQuotas extends World {
  limits: AppSettings['limits']
  /** Its keyed index; null for a recipient that skips the limits of its own. */
  recipient: string | null
  address: { value: string; reputation: Reputation } | null
  /** Whether a message goes out now: a wa.me link is none. */
  message: boolean
}

export function sendQuotas(keyring: Pick<Keyring, 'index'>, send: SendQuotas): Quota[] {
  const { limits, recipient, address, message } = send
  const quotas: Quota[] = []
  if (recipient !== null)
    quotas.push({ scope: 'recipient', key: keyOf(send, 'sends', recipient), rules: limits.recipient })
  if (address !== null) quotas.push(addressQuota(keyring, send, address))
  quotas.push(
    address === null
      ? { scope: 'app_without_client_ip', key: keyOf(send, 'without_ip'), rules: limits.app_without_client_ip }
      : { scope: 'app', key: keyOf(send, 'with_ip'), rules: limits.app },
  )
  if (recipient !== null && message) quotas.push(messageQuota(send, recipient, limits))
  return quotas
}

/** Resends count here as well. */
export const messageQuota = (world: World, recipient: string, limits: AppSettings['limits']): Quota => ({
  scope: 'recipient',
  key: keyOf(world, 'messages', recipient),
  rules: limits.recipient_messages,
})

/** Apart for what servers and what devices started, so that a stranger cannot lock anyone out of a server's verifications. */
export const guessQuota = (
  world: World,
  recipient: string,
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient_verify',
  key: keyOf(world, 'guesses', startedBy, recipient),
  rules: limits.recipient_verify,
})

/** One counter for an address; a suspect one gets a share of the same limit. */
function addressQuota(
  keyring: Pick<Keyring, 'index'>,
  world: SendQuotas,
  address: NonNullable<SendQuotas['address']>,
): Quota {
  const key = keyOf(
    world,
    'client_ip',
    keyring.index(addressScope(world.app_id, world.mode), addressBlock(address.value)),
  )
  const { client_ip: rules, client_ip_reputation_factor: share } = world.limits
  return address.reputation === 'suspect'
    ? { scope: 'client_ip_reputation', key, rules: rules.map(rule => scaled(rule, share)) }
    : { scope: 'client_ip', key, rules }
}

const scaled = (rule: LimitRule, share: number): LimitRule => ({ ...rule, max: Math.floor(rule.max * share) })

export const recipientIndex = (keyring: Pick<Keyring, 'index'>, { app_id, mode }: World, recipient: string): string =>
  keyring.index(recipientScope(app_id, mode), recipientKey(recipient))
