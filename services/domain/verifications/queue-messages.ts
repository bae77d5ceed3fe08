// Messages about a verification between actors: calls to `otp.calls`; the entries of its outbox, which its effects become; the bodies that
// channels read; and reports to `otp.reports`. An approval notice is not an effect and not in the outbox. They hold ids; personal data and
// secrets only where they are sealed. What calls say and answer is in machines/calls.ts, the bodies of webhook events in
// domain/webhooks/queue-messages.ts.
import { randomUUID } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { ChannelQueue, WorkQueue } from '../../../infra/broker/topology.ts'
import { isJsonObject } from '../../../infra/json-object.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { OtpAnswer, OtpCall } from '../../../machines/calls.ts'
import type { Channel } from '../../../machines/channels.ts'
import type { OptOut, OptOutChannel } from '../../../machines/opt-out.ts'
import type { Mode, ReportDetails, ReportedStatus } from '../../../machines/otp.ts'

/** How long a caller waits. The actor drops a call that has waited longer; on RabbitMQ it may take up to twice this time until a call is
 *  dropped (see `Broker.serve`). */
const CALL_TIMEOUT_MS = 5_000

/** Calls the OTP actor and waits for its answer. */
export const requestOtp = async (
  broker: Pick<Broker, 'request'>,
  body: OtpCall,
  trace: Trace,
  waitMs = CALL_TIMEOUT_MS,
): Promise<OtpAnswer> =>
  (await broker.request('otp.calls', { id: randomUUID(), body, trace }, Math.min(waitMs, CALL_TIMEOUT_MS))) as OtpAnswer

export const channelQueue = (channel: Channel): ChannelQueue => `channel.${channel}`

/** Saved with the change that caused the effect, removed once the broker has the message. */
export interface OutboxEntry {
  id: string
  queue: WorkQueue
  body: unknown
  /** When it was saved: the sweeper publishes old entries again. */
  at: number
  /** The trace of the request that caused it, for the message; absent where no request did. */
  trace?: Trace
}

/** To a channel queue. The consumer loads the verification, so that the message holds no secret. */
export interface DeliverBody {
  otp_id: string
  delivery_id: string
  generation: number
  /** Present for live verifications only, absent for test ones: the company and the app. While all providers of the app are busy, the
   *  message goes back to the queue by this alone, without loading the verification. The name is in stored outboxes and queued messages,
   *  so it stays. */
  live?: { company_id: string; app_id: string }
}

/** To the WhatsApp queue, published without the outbox: the user's message has approved the verification and gets a reply. Nothing depends
 *  on the reply. */
export interface ApprovalNoticeBody {
  otp_id: string
  approved: true
}

/** False for a message that another program, or a newer version, has put into a channel's queue. */
export function isChannelMessage(body: unknown): body is DeliverBody | ApprovalNoticeBody {
  if (!isJsonObject(body) || typeof body.otp_id !== 'string') return false
  return 'approved' in body || typeof body.delivery_id === 'string'
}

/** To the durable queue `otp.reports`: receipts of deliveries, users' messages, refunds, charges after a refund and the
 *  sweeper's reminders. Personal data in them is sealed. */
export type OtpReport =
  /** `provider` took the message, or this is its receipt. `because` may come with each status, the other details come with `failed`.
   *  `unsubscribed`: the provider by whose word the recipient asked for no more messages. */
  | ({
      type: 'delivery.reported'
      otp_id: string
      delivery_id: string
      status: ReportedStatus
      at: number
      unsubscribed?: string
    } & ReportDetails)
  /** A user's WhatsApp message, or in test mode one from the sandbox. `references` has the index of each reference found in its text. */
  | {
      type: 'message.received'
      app_id: string
      mode: Mode
      /** The sender; an empty text, sealed, where the user hides their number. */
      sealed_from: string
      /** WhatsApp's id of such a user. */
      sealed_user_id?: string
      references: string[]
      at: number
    }
  /** A user who hides their number has answered the request for it: the vendor says that this number is the user's own. */
  | { type: 'contact.received'; app_id: string; mode: Mode; sealed_from: string; sealed_user_id: string; at: number }
  /** A person asked a provider's sender for no more messages, or for messages again. */
  | {
      type: 'opt_out.received'
      app_id: string
      mode: Mode
      channel: OptOutChannel
      /** Null in the sandbox. */
      provider: string | null
      sealed_from: string
      asked: OptOut
      at: number
    }
  /** A delivery that was paid for has failed, so its price is given back. */
  | { type: 'delivery.refunded'; company_id: string; otp_id: string; delivery_id: string; micros: number }
  /** The code of a delivery that was refunded has been entered, so its price is charged again. */
  | { type: 'delivery.recharged'; company_id: string; otp_id: string; delivery_id: string; micros: number }
  /** The sweeper's reminder that the verification's time is up. */
  | { type: 'otp.due'; otp_id: string }

/** Several reports in one message, each with the id and the trace that it would have alone. */
export interface ReportBundle {
  type: 'reports'
  all: { id: string; report: OtpReport; trace?: Trace }[]
}

const REPORT_TYPES: readonly OtpReport['type'][] = [
  'delivery.reported',
  'message.received',
  'contact.received',
  'opt_out.received',
  'delivery.refunded',
  'delivery.recharged',
  'otp.due',
]

/** False for a message that another program, or a newer version, has put into the queue. Only what finds the verification is checked. */
export function isReportMessage(body: unknown): body is OtpReport | ReportBundle {
  if (!isJsonObject(body)) return false
  if (body.type !== 'reports') return isReport(body)
  return (
    Array.isArray(body.all) &&
    body.all.every(one => isJsonObject(one) && typeof one.id === 'string' && isReport(one.report))
  )
}

function isReport(report: unknown): boolean {
  if (!isJsonObject(report) || !(REPORT_TYPES as readonly unknown[]).includes(report.type)) return false
  return typeof (isOfApp(report.type) ? report.app_id : report.otp_id) === 'string'
}

/** Of a person who wrote: it names the app, and no verification. */
export const isOfApp = (type: unknown): type is 'message.received' | 'contact.received' | 'opt_out.received' =>
  type === 'message.received' || type === 'contact.received' || type === 'opt_out.received'
