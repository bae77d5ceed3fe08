// The messages that a verification's effects become: the entries of its outbox, and the bodies that consumers read. Ids only, no secrets.
import type { ChannelQueue, WorkQueue } from '../../../infra/broker/topology.ts'
import type { Channel } from '../../../machines/channels.ts'

export const channelQueue = (channel: Channel): ChannelQueue => `channel.${channel}`

/** Saved with the change that caused the effect, removed once the broker has the message. */
export interface OutboxEntry {
  id: string
  queue: WorkQueue
  body: unknown
  /** When it was saved: the sweeper publishes old entries again. */
  at: number
}

/** To a channel queue. The consumer loads the verification, so that the message holds no secret. */
export interface DeliverBody {
  otp_id: string
  delivery_id: string
  generation: number
  /** The tenant of a live message: while its providers are busy the message goes back to the queue without loading the verification. */
  live?: { company_id: string; app_id: string }
}

/** To the WhatsApp queue: the user's message has approved the verification and gets a reply. Nothing depends on the reply. */
export interface ApprovalNoticeBody {
  otp_id: string
  approved: true
}
