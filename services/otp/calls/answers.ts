// What comes of a call that ends in the verification object. In: the result of its commit. Out: the object, or a refusal.
import type { LimitUse, OtpAnswer } from '../../../machines/calls.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import type { RefusedRecipient } from '../../domain/refusals/refused-recipient.ts'
import type { CommitResult } from '../commit/commit.ts'
import type { JudgedAddress } from '../limits/reputation.ts'
import { notFoundRefusal, refusalFromReply } from '../refusals.ts'

/** What came of a send or a resend. */
export interface MessageResult {
  answer: OtpAnswer
  /** For the record of a refusal; absent where it is not known. */
  recipient?: RefusedRecipient
  /** The client address of a send, as far as it was judged. */
  client?: JudgedAddress | null
}

export function verificationAnswer(committed: CommitResult | null, at: number, limit?: LimitUse): OtpAnswer {
  if (committed === null) return notFoundRefusal()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  return reply.kind === 'refused'
    ? refusalFromReply(reply)
    : { kind: 'verification', verification: verificationView(doc, at), ...(limit ? { limit } : {}) }
}
