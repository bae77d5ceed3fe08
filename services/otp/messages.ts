// A message on its way to a recipient counts, whatever it was that sends it: a resend, a failed delivery that goes on by itself, an
// answer in the chat. In: a change the machine has agreed to. Out: counted, or refused; nothing where the change sends none.
import type { Keyring } from '../../infra/crypto/keyring.ts'
import type { OtpDoc } from '../../infra/otps/documents.ts'
import { atRest } from '../../infra/otps/sealing.ts'
import { magicOf } from '../../machines/magic.ts'
import type { Step } from '../../machines/otp.step.ts'
import type { KnownApp } from './apps.ts'
import type { Limits } from './limits.ts'
import { messageQuota } from './quotas.ts'
import { type Reservation, reserve } from './reserve.ts'

export interface MessageParts {
  keyring: Pick<Keyring, 'unseal'>
  limits: Limits
}

export async function reserveMessage(
  { keyring, limits }: MessageParts,
  app: Pick<KnownApp, 'settings'> | null,
  next: Step,
  doc: OtpDoc,
): Promise<Reservation> {
  const isMessage = next.saved.context.deliveries.length > doc.context.deliveries.length
  if (!isMessage || !app) return reserve(limits, [])
  const recipient = keyring.unseal(doc.context.recipient.sealed, atRest.recipient(doc._id))
  const isMagic = doc.mode === 'test' && magicOf(recipient) !== null
  return reserve(limits, isMagic ? [] : [messageQuota(doc, doc.recipient, app.settings.limits)])
}
