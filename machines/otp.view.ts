// A verification or a message as its callers see it. In: what is saved, and the time. Out: the view; it never holds the code.
import type { VerificationView } from './calls.ts'
import { statusAt } from './otp.code-life.ts'
import { attemptsLeft, completionOf } from './otp.queries.ts'
import type { Delivery, MessageStatus, OtpStatus } from './otp.ts'
import type { SavedOtp } from './otp.versions.ts'
import { resendAt } from './resend.ts'

export const verificationView = (
  { value, context: otp }: Pick<SavedOtp, 'value' | 'context'>,
  at: number,
): VerificationView => ({
  otp_id: otp.otp_id,
  // The cast is safe: only a message is `delivered`.
  status: statusAt(value, otp, at) as OtpStatus,
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

export interface MessageView
  extends Pick<StatusView, 'channel' | 'masked_recipient' | 'created_at' | 'expires_at' | 'deliveries'> {
  message_id: string
  status: MessageStatus
}

export const messageView = ({ value, context: otp }: Pick<SavedOtp, 'value' | 'context'>, at: number): MessageView => ({
  message_id: otp.otp_id,
  // The cast is safe: a message is never `approved`.
  status: statusAt(value, otp, at) as MessageStatus,
  channel: otp.channel,
  masked_recipient: otp.recipient.masked,
  created_at: otp.first_sent_at,
  expires_at: otp.expires_at,
  deliveries: otp.deliveries,
})
