// Which messages the fraud guard counts. In: a verification before and after a change. Out: the messages that the change has sent, and
// whether it approved the verification.
import { isMessage } from '../../../machines/otp.queries.ts'
import type { Delivery, Otp } from '../../../machines/otp.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'

/** Whether a message can cost money. In the link modes of WhatsApp the user writes first, and answers in that chat are free. */
export const canCost = ({ channel }: Pick<Delivery, 'channel'>, { whatsapp }: Pick<Otp, 'whatsapp'>): boolean =>
  channel === 'sms' || channel === 'telegram' || (channel === 'whatsapp' && whatsapp === 'template')

/** The messages of a verification that can cost money, and those by email, which are counted only as traffic of the app's devices. A fallback
 *  that could not be paid was not sent. */
export const countedMessages = (otp: Pick<Otp, 'deliveries' | 'whatsapp'>): Delivery[] =>
  otp.deliveries.filter(
    delivery => (delivery.channel === 'email' || canCost(delivery, otp)) && delivery.reason !== 'insufficient_funds',
  )

export interface Outcome {
  /** When each message was sent; the first one begins the verification if `isStart`. */
  sentAt: number[]
  isStart: boolean
  /** `sentAt`: of the message that was verified, the last one. Null when the change did not approve the verification. */
  approval: { at: number; sentAt: number } | null
}

/** Null when the change has neither sent a message that counts nor approved a verification that has one. A code that the caller made counts
 *  in no conversion: only the caller knows whether it was entered. */
export function outcomeOf(before: OtpDoc | null, after: OtpDoc): Outcome | null {
  if (isMessage(after.context)) return null
  const messages = countedMessages(after.context)
  const last = messages.at(-1)
  if (last === undefined) return null
  const known = before === null ? 0 : countedMessages(before.context).length
  const isApproved = before?.value !== 'approved' && after.value === 'approved'
  if (messages.length === known && !isApproved) return null
  return {
    sentAt: messages.slice(known).map(({ created_at }) => created_at),
    isStart: known === 0,
    approval: isApproved ? { at: after.context.approval?.at ?? last.created_at, sentAt: last.created_at } : null,
  }
}
