// Counts and pays for a message of an existing verification: a resend, a fallback, or an answer in the chat. In: a step that the machine
// allows, and what the call that asked for it brings. Out: a reservation or a refusal.
//
// Fallbacks and answers in the chat count as messages to the recipient, and in no other limit: no client asks for them, so a flood of
// calls must not stop them. They are limited by the send attempts of their verification, whose send was counted.
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import type { Refusal } from '../../../machines/calls.ts'
import { magicOf } from '../../../machines/magic-recipients.ts'
import type { Step } from '../../../machines/otp.step.ts'
import { type Quota, quotaOfMessage, quotaOfStart } from '../../../machines/quotas.ts'
import { isGeoBlocked } from '../../../machines/routing.ts'
import type { LimitRule } from '../../../machines/settings.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import { atRest } from '../../domain/verifications/encryption-context.ts'
import { mailboxIndexes } from '../../domain/verifications/lookup-indexes.ts'
import type { CachedApp } from '../apps.ts'
import { type ChallengeOutcome, type FraudGuard, NO_CHALLENGE } from '../fraud/guard.ts'
import type { Funds } from '../funds.ts'
import type { Limits } from '../limits/limits.ts'
import { recipientSends } from '../limits/quota-counters.ts'
import { geoBlockedRefusal } from '../refusals.ts'
import { chainReservations, NO_RESERVATION, type Reservation, reserve } from '../reservation.ts'

export interface ReserveMessageDeps {
  keyring: Pick<Keyring, 'unseal' | 'indexes'>
  limits: Limits
  guard: Pick<FraudGuard, 'check'>
  funds: Funds
}

/** What the call that asks for the message brings; a message that no call asks for brings nothing. */
export interface CallReservation {
  callQuotas?: readonly Quota[]
  /** For a send, how many the recipient may get. A send that joins counts as any other, so that ids, and with them guesses, are as many as
   *  sends. */
  sendLimit?: readonly LimitRule[]
  challenge?: ChallengeOutcome
}

/** Whether the message could not be paid: operators find it among the deliveries that failed. */
export const isUnpaid = ({ error }: Refusal): boolean => error === 'InsufficientFundsError'

export async function reserveMessage(
  { keyring, limits, guard, funds }: ReserveMessageDeps,
  app: Pick<CachedApp, 'settings'> | null,
  next: Step,
  doc: OtpDoc,
  { callQuotas = [], sendLimit, challenge = NO_CHALLENGE }: CallReservation = {},
): Promise<Reservation> {
  const { last_commands, context: otp } = next.saved
  const sendsMessage = otp.deliveries.length > doc.context.deliveries.length
  if (!app || !(sendsMessage || sendLimit)) return reserve(limits, callQuotas)
  const { country } = otp.recipient
  // The country may have been blocked after the first send.
  if (sendsMessage && isGeoBlocked(app.settings, otp.recipient))
    return { ...NO_RESERVATION, refusal: geoBlockedRefusal(country) }
  const recipient = keyring.unseal(otp.recipient.sealed, atRest.recipient(doc._id))
  const isMagic = magicOf(doc.mode, recipient) !== null
  const indexes = isMagic ? null : mailboxIndexes(keyring, doc, recipient)
  const quotas = [...callQuotas]
  if (indexes) {
    const ofRecipient = recipientSends(doc, indexes, otp.started_by.kind)
    if (sendLimit) quotas.unshift(quotaOfStart(ofRecipient, sendLimit))
    if (sendsMessage) quotas.push(quotaOfMessage(ofRecipient, app.settings.limits))
  }
  const counted = await reserve(limits, quotas)
  if (!sendsMessage) return counted
  const command_id = last_commands.at(-1)?.id ?? ''
  const guarded = await chainReservations(counted, () =>
    guard.check({ command_id, otp, recipient, app, free: null, challenge }),
  )
  return chainReservations(guarded, () => funds.take(otp, app.settings))
}
