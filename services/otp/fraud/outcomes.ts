// Which messages the fraud guard counts. In: a verification before and after a change. Out: the messages that the change has sent, and
// whether it approved the verification.
import { countedMessages } from '../../../machines/fraud.messages.ts'
import { isMessage } from '../../../machines/otp.queries.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'

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
