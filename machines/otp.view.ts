// A verification as its callers see it. In: what is saved, and the time. Out: the view; it never holds the code.
import type { VerificationView } from './calls.ts'
import { statusAt } from './otp.code-life.ts'
import { attemptsLeft, completionOf } from './otp.queries.ts'
import type { Delivery } from './otp.ts'
import type { SavedOtp } from './otp.versions.ts'
import { resendAt } from './resend.ts'

export const verificationView = (
  { value, context: otp }: Pick<SavedOtp, 'value' | 'context'>,
  at: number,
): VerificationView => ({
  otp_id: otp.otp_id,
  status: statusAt(value, otp, at),
  channel: otp.channel,
  masked_recipient: otp.recipient.masked,
  sealed_action_url: otp.link?.sealed_url ?? null,
  completion: completionOf(otp),
})

export interface StatusView extends VerificationView {
  created_at: number
  expires_at: number
  verified_at: number | null
  attempts_left: number
  resend_at: number | null
  deliveries: Delivery[]
}

export const statusView = (saved: Pick<SavedOtp, 'value' | 'context'>, at: number): StatusView => ({
  ...verificationView(saved, at),
  created_at: saved.context.first_sent_at,
  expires_at: saved.context.expires_at,
  verified_at: saved.context.approval?.at ?? null,
  attempts_left: attemptsLeft(saved.context),
  resend_at: resendAt(saved.value, saved.context, at),
  deliveries: saved.context.deliveries,
})
