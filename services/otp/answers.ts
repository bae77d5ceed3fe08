// What a client hears of a change that ends in the verification object.
import type { OtpAnswer } from '../../machines/calls.ts'
import { verificationView } from '../../machines/view.ts'
import type { Committed } from './commit.ts'
import { notFound, refusalOf } from './refusals.ts'

export function verificationAnswer(committed: Committed | null, at: number): OtpAnswer {
  if (committed === null) return notFound()
  if ('refusal' in committed) return committed.refusal
  const { doc, reply } = committed
  return reply.kind === 'refused' ? refusalOf(reply) : { kind: 'verification', verification: verificationView(doc, at) }
}
