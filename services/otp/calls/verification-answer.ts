// What comes of a call that changes a verification. In: the result of its commit. Out: the verification object, or a refusal.
import type { LimitUse, OtpAnswer } from '../../../machines/calls.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import type { CommitResult } from '../commit.ts'
import { notFoundRefusal, refusalFromReply } from '../refusals.ts'

/** `otp_id`: the id that the caller named. */
export function verificationAnswer(
  committed: CommitResult | null,
  otp_id: string,
  at: number,
  limit?: LimitUse,
): OtpAnswer {
  if (committed === null) return notFoundRefusal()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  if (reply.kind === 'refused') return refusalFromReply(reply)
  // A send that joined got an id of its own, and a repeated call for it the one that it got first.
  const answered = reply.kind === 'accepted' ? (reply.otp_id ?? otp_id) : otp_id
  return { kind: 'verification', verification: verificationView(doc, at, answered), ...(limit ? { limit } : {}) }
}
