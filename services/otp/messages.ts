// A message on its way to a recipient counts, whatever it was that sends it: a resend, a failed delivery that goes on by itself, an
// answer in the chat. In: a change the machine has agreed to. Out: counted and paid for, or refused; nothing where the change sends none.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import { recipientIndexes } from '../../infra/otps/counting.ts'
import type { OtpDoc } from '../../infra/otps/documents.ts'
import { atRest } from '../../infra/otps/sealing.ts'
import { magicOf } from '../../machines/magic.ts'
import type { Step } from '../../machines/otp.step.ts'
import type { KnownApp } from './apps.ts'
import type { Funds } from './funds.ts'
import type { Limits } from './limits.ts'
import { messageQuota } from './quotas.ts'
import { type Reservation, reserve } from './reserve.ts'

export interface MessageParts {
  keyring: Pick<Keyring, 'unseal' | 'indexes'>
  limits: Limits
  funds: Funds
}

export async function reserveMessage(
  { keyring, limits, funds }: MessageParts,
  app: Pick<KnownApp, 'settings'> | null,
  next: Step,
  doc: OtpDoc,
): Promise<Reservation> {
  const isMessage = next.saved.context.deliveries.length > doc.context.deliveries.length
  if (!isMessage || !app) return NOTHING
  const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
  const isMagic = doc.mode === 'test' && magicOf(recipient) !== null
  const counted = await reserve(
    limits,
    isMagic ? [] : [messageQuota(doc, recipientIndexes(keyring, doc, recipient), app.settings.limits)],
  )
  return counted.refusal ? counted : withFunds(counted, () => funds.take(next.saved.context))
}

const NOTHING: Reservation = { undo: async () => {} }

/** Money comes last: what there is none for gives back what was counted for it. */
export async function withFunds(counted: Reservation, take: () => Promise<Reservation>): Promise<Reservation> {
  const paid = await take().catch(async error => {
    await counted.undo().catch(() => {})
    throw error
  })
  if (paid.refusal) {
    await counted.undo()
    return paid
  }
  return { undo: async () => void (await Promise.all([counted.undo(), paid.undo()])) }
}
