// What comes of a call that changes a verification. In: the result of its commit. Out: the verification object, or a refusal.
import type { LimitUse, OtpAnswer } from '../../../machines/calls.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import type { CommitResult } from '../commit.ts'
import { notFoundRefusal, refusalFromReply } from '../refusals.ts'

export function verificationAnswer(committed: CommitResult | null, at: number, limit?: LimitUse): OtpAnswer {
  if (committed === null) return notFoundRefusal()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  return reply.kind === 'refused'
    ? refusalFromReply(reply)
    : { kind: 'verification', verification: verificationView(doc, at), ...(limit ? { limit } : {}) }
}
