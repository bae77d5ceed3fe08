// The answer to a call that ends in the verification object. In: the result of its commit. Out: the object, or a refusal.
import type { OtpAnswer } from '../../../machines/calls.ts'
import { verificationView } from '../../../machines/otp.view.ts'
import type { CommitResult } from '../commit/commit.ts'
import { notFoundRefusal, refusalFromReply } from '../refusals.ts'

export function verificationAnswer(committed: CommitResult | null, at: number): OtpAnswer {
  if (committed === null) return notFoundRefusal()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  return reply.kind === 'refused'
    ? refusalFromReply(reply)
    : { kind: 'verification', verification: verificationView(doc, at) }
}
