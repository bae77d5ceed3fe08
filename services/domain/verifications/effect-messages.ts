// The messages a verification's effects become: what is in its outbox, and what each queue's consumer reads. Ids only, nothing secret.
import type { ChannelQueue, WorkQueue } from '../../../infra/broker/topology.ts'
import type { Channel } from '../../../machines/channels.ts'

export const channelQueue = (channel: Channel): ChannelQueue => `channel.${channel}`

/** An effect on its way out: saved with the change that caused it, removed once the broker has it. */
export interface OutboxEntry {
  id: string
  queue: WorkQueue
  body: unknown
  /** When it was saved: the sweeper publishes again what has stayed too long. */
  at: number
}

/** To a channel queue. The consumer reads the verification itself: nothing secret travels. */
export interface DeliverBody {
  otp_id: string
  delivery_id: string
  generation: number
  /** Whose it is, of a live message: one whose providers are all busy goes back to the queue without being looked up. */
  live?: { company_id: string; app_id: string }
}

/** To the WhatsApp queue: the user's own message has approved, and a word of thanks is due. Nothing depends on it. */
export interface ApprovalNoticeBody {
  otp_id: string
  approved: true
}
