// The limits of a send, a resend, a message or a guess, with their counters in the store. In: the app, its limits, the
// recipient, the client address. Out: quotas; if several are full, the first one refuses. Nothing is counted here.
// Which limits apply is in machines/quotas.ts. Every limit is per app and mode today; none spans the apps of a company.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import {
  type CountedResend,
  type CounterName,
  type Quota,
  quotasOfResend,
  quotasOfSend,
} from '../../../machines/quotas.ts'
import type { AppSettings } from '../../../machines/settings.ts'
import { addressCounters, counterKey, recipientCounter } from '../../domain/verifications/counter-names.ts'
import type { AppMode } from '../../domain/verifications/lookup-indexes.ts'
import type { JudgedAddress } from './reputation.ts'

type Indexer = Pick<Keyring, 'indexes'>

export interface ResendQuotaInput extends AppMode {
  limits: AppSettings['limits']
  /** The kind of the API key that makes the call. */
  kind: KeyKind
  /** Null without a usable address. */
  address: JudgedAddress | null
}

export interface SendQuotaInput extends ResendQuotaInput {
  /** The keyed indexes of the recipient's mailbox, the current one first; null for a magic recipient, which is not limited. */
  mailboxIndexes: readonly string[] | null
  /** False when the caller gets a wa.me link and no message is sent. */
  sendsMessage: boolean
  /** A login asks for it, at a receiver of services/edge/hooks. */
  fromLogin?: boolean
}

/** Anyone can read a publishable key. So what a recipient gets, and sends without an address, are counted apart for the two kinds of key:
 *  a stranger cannot use up the sends of the app's servers. */
export const sendQuotas = (keyring: Indexer, send: SendQuotaInput): Quota[] =>
  quotasOfSend({
    ...countedResend(keyring, send),
    recipient: send.mailboxIndexes && recipientSends(send, send.mailboxIndexes, send.kind),
    withoutAddress: { key: counterKey(send, 'without_ip', send.kind) },
    hooks: { key: counterKey(send, 'hooks') },
    fromLogin: send.fromLogin === true,
    sendsMessage: send.sendsMessage,
  })

export const resendQuotas = (keyring: Indexer, resend: ResendQuotaInput): Quota[] =>
  quotasOfResend(countedResend(keyring, resend))

const countedResend = (keyring: Indexer, call: ResendQuotaInput): CountedResend => ({
  limits: call.limits,
  kind: call.kind,
  networks: call.address && addressCounters(keyring, call, call.address.value),
  suspect: call.address?.reputation === 'suspect',
  app: { key: call.kind === 'publishable' ? counterKey(call, 'app', 'publishable') : counterKey(call, 'app') },
})

/** The counter of what a recipient is sent. `startedBy`: the kind of key that started the verification. */
export const recipientSends = (appMode: AppMode, mailboxIndexes: readonly string[], startedBy: KeyKind): CounterName =>
  recipientCounter(appMode, `sends:${startedBy}`, mailboxIndexes)

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
