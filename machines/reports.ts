// What reaches the OTP actor through the durable queue: news of deliveries, users' messages, and reminders of the clock.
// Personal data in it is sealed.
import type { Mode, ReportedStatus } from './otp.ts'

export type OtpReport =
  | { type: 'delivery.reported'; otp_id: string; delivery_id: string; status: ReportedStatus; at: number }
  /** A WhatsApp message (in test mode, one played through the sandbox): from whom (sealed), and the index of every reference that could be read in it. */
  | { type: 'message.received'; app_id: string; mode: Mode; sealed_from: string; references: string[]; at: number }
  /** A delivery that was paid for has failed. */
  | { type: 'delivery.refunded'; company_id: string; otp_id: string; delivery_id: string; micros: number }
  /** Time is up for this verification. */
  | { type: 'otp.due'; otp_id: string }

/** Several pieces of news in one message, each under the id it would have alone. */
export interface OtpReports {
  type: 'reports'
  all: { id: string; report: OtpReport }[]
}
