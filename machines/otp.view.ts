// A verification or a message as its callers see it. In: what is saved, and the time. Out: the view; it never holds the code.
import type { VerificationView } from './calls.ts'
import { statusAt } from './otp.code-life.ts'
import { approvedId, ownEnd, statusOf } from './otp.ids.ts'
import { attemptsLeft, completionOf } from './otp.queries.ts'
import type { Delivery, MessageStatus } from './otp.ts'
import type { SavedOtp } from './otp.versions.ts'
import { resendAt } from './resend.ts'

/** `otp_id`: the id that the caller names. */
export const verificationView = (
  { value, context: otp }: Pick<SavedOtp, 'value' | 'context'>,
  at: number,
  otp_id = otp.otp_id,
): VerificationView => ({
  otp_id,
  ...(otp_id === otp.otp_id ? {} : { first_id: otp.otp_id }),
  status: statusOf(value, otp, at, otp_id),
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

export function statusView(
  saved: Pick<SavedOtp, 'value' | 'context'>,
  at: number,
  otp_id = saved.context.otp_id,
): StatusView {
  const { value, context: otp } = saved
  return {
    ...verificationView(saved, at, otp_id),
    created_at: otp.joined?.find(one => one.otp_id === otp_id)?.joined_at ?? otp.first_sent_at,
    expires_at: otp.expires_at,
    verified_at: approvedId(otp) === otp_id ? (otp.approval?.at ?? null) : null,
    attempts_left: attemptsLeft(otp, otp_id),
    resend_at: ownEnd(otp, otp_id) === null ? resendAt(value, otp, at) : null,
    deliveries: otp.deliveries,
  }
}

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
