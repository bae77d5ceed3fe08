// Which limits apply to a send, a resend, a message or a guess. In: the app, its limits, the recipient, the client address. Out: quotas; if
// several are full, the first one refuses. Nothing is counted here. Every limit is per app and mode today; none spans the apps of a
// company.
//
// A new limit also needs its rules in machines/settings.ts, its scope in `LimitScope` (machines/calls.ts) and, where it counts more than the
// app, its counter in services/domain/verifications/counter-names.ts. The type check then asks for the text of its refusal.
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

/** An end user's address, as the address lists judge it now. */
export interface JudgedAddress {
  value: string
  reputation: Reputation
}

export interface ResendQuotaInput extends AppMode {
  limits: AppSettings['limits']
  /** Of the API key that makes the call. */
  kind: KeyKind
  /** Null without a usable address. */
  address: JudgedAddress | null
}

export interface SendQuotaInput extends ResendQuotaInput {
  /** The keyed indexes of the recipient's mailbox, the current one first; null for a magic recipient, which is not limited. */
  mailboxIndexes: readonly string[] | null
  /** False when the caller gets a wa.me link and no message is sent. */
  sendsMessage: boolean
}

/** Anyone can read a publishable key. So what a recipient gets, and sends without an address, are counted apart for the two kinds of key:
 *  a stranger cannot use up the sends of the app's servers. */
export function sendQuotas(keyring: Indexer, send: SendQuotaInput): Quota[] {
  const { limits, kind, mailboxIndexes, address, sendsMessage } = send
  const quotas: Quota[] = []
  if (mailboxIndexes !== null) {
    const name = recipientCounter(send, `sends:${kind}`, mailboxIndexes)
    quotas.push({ scope: 'recipient', ...name, rules: limits.recipient, tellsLast: true })
  }
  quotas.push(...addressQuotas(keyring, send))
  if (address === null) quotas.push(withoutAddressQuota(send))
  if (address !== null || kind === 'publishable') quotas.push(appQuota(send))
  if (mailboxIndexes !== null && sendsMessage) quotas.push(messageQuota(send, mailboxIndexes, kind, limits))
  return quotas
}

/** A resend counts for the address of its send, and for the app, with or without an address: `app_without_client_ip` is for sends alone,
 *  which limit their resends. A message is counted by `messageQuota` besides. */
export const resendQuotas = (keyring: Indexer, resend: ResendQuotaInput): Quota[] => [
  ...addressQuotas(keyring, resend),
  appQuota(resend),
]

/** Counts every message to the recipient, including resends, fallbacks and answers in the chat, in the counter of its sends. `startedBy`:
 *  the kind of key that started the verification. */
export const messageQuota = (
  appMode: AppMode,
  mailboxIndexes: readonly string[],
  startedBy: KeyKind,
  limits: AppSettings['limits'],
): Quota => ({
  scope: 'recipient',
  ...recipientCounter(appMode, `sends:${startedBy}`, mailboxIndexes),
  rules: limits.recipient_messages.map(rule => ({ ...rule, counts: 'messages' })),
})

export interface GuessQuotas {
  guesses: Quota
  /** For the first guess of a verification while `guesses` is full or locked. It has the same rules, so a window compares at most twice
   *  what a rule allows, however many verifications are started. */
  firstGuesses: Quota
}

/** Wrong codes are counted apart by the kind of key that started the verification and by the kind of key that guesses, so that an attacker
 *  with a publishable key cannot lock a recipient out of the server's verifications, neither by starting nor by guessing them. */
export function guessQuotas(
  appMode: AppMode,
  mailboxIndexes: readonly string[],
  { startedBy, guessedBy }: { startedBy: KeyKind; guessedBy: KeyKind },
  limits: AppSettings['limits'],
): GuessQuotas {
  const quota = (what: 'guesses' | 'first_guesses'): Quota => ({
    scope: 'recipient_verify',
    ...recipientCounter(appMode, `${what}:${startedBy}:${guessedBy}`, mailboxIndexes),
    rules: limits.recipient_verify,
  })
  return { guesses: quota('guesses'), firstGuesses: quota('first_guesses') }
}

const withoutAddressQuota = (send: ResendQuotaInput): Quota => ({
  scope: 'app_without_client_ip',
  key: counterKey(send, 'without_ip', send.kind),
  rules: send.limits.app_without_client_ip,
})

/** Publishable keys have a counter of their own: anyone can read such a key, and a flood of its calls must not stop the app's servers. */
const appQuota = (call: ResendQuotaInput): Quota =>
  call.kind === 'publishable'
    ? { scope: 'app', key: counterKey(call, 'app', 'publishable'), rules: call.limits.app_publishable }
    : { scope: 'app', key: counterKey(call, 'app'), rules: call.limits.app }

/** One quota for an IPv4 address, one for each network of an IPv6 address. A suspect address has the same counters and gets a share of
 *  their limits. */
function addressQuotas(keyring: Indexer, call: ResendQuotaInput): Quota[] {
  const { address, limits } = call
  if (address === null) return []
  const isSuspect = address.reputation === 'suspect'
  const scope = isSuspect ? 'client_ip_reputation' : 'client_ip'
  const share = isSuspect ? limits.client_ip_reputation_factor : 1
  return addressCounters(keyring, call, address.value).map(({ limitFactor, ...name }) => ({
    scope,
    ...name,
    rules: limits.client_ip.map(rule => scaleRule(rule, limitFactor * share)),
  }))
}

const scaleRule = (rule: LimitRule, factor: number): LimitRule => ({ ...rule, max: Math.floor(rule.max * factor) })
