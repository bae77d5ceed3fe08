// The reports that reach the OTP actor through the durable queue `otp.reports`: receipts of deliveries, users' messages, refunds,
// charges after a refund and the sweeper's reminders. Personal data in them is sealed.
import type { Mode, ReportDetails, ReportedStatus } from './otp.ts'

export type OtpReport =
  /** `provider` took the message, or this is its receipt. `because` may come with each status, the other details come with `failed`. */
  | ({
      type: 'delivery.reported'
      otp_id: string
      delivery_id: string
      status: ReportedStatus
      at: number
    } & ReportDetails)
  /** A user's WhatsApp message, or in test mode one from the sandbox. `references` has the index of each reference found in its text. */
  | { type: 'message.received'; app_id: string; mode: Mode; sealed_from: string; references: string[]; at: number }
  /** A delivery that was paid for has failed, so its price is given back. */
  | { type: 'delivery.refunded'; company_id: string; otp_id: string; delivery_id: string; micros: number }
  /** The code of a delivery that was refunded has been entered, so its price is charged again. */
  | { type: 'delivery.recharged'; company_id: string; otp_id: string; delivery_id: string; micros: number }
  /** The sweeper's reminder that the verification's time is up. */
  | { type: 'otp.due'; otp_id: string }
