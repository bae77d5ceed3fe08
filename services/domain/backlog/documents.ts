// What the processes of a channel say of the messages in their hands: one document per process, written once a second while there is
// something to say. With it the sweeper tells a delivery that waits from one whose provider is being called, and from one that is lost.
import type { Doc } from '../../../infra/store/docs.ts'
import { collection } from '../../../infra/store/store.ts'
import type { Channel } from '../../../machines/channels.ts'

export interface ChannelLoadDoc extends Doc {
  channel: Channel
  /** The verifications whose provider is being called, or whose call has ended and is not reported yet. */
  in_hand: string[]
  /** The apps whose messages the process holds, or has given back to the broker within the last minute, because their
   *  providers were busy. */
  busy_apps: string[]
  /** Past it, the process has died. Where it was stopped, the last of its messages has come again by then. */
  valid_until: number
  purge_at: Date
}

export const BACKLOG_COLLECTIONS = {
  channel_loads: collection<ChannelLoadDoc>({
    belongsTo: [{ to: null, why: 'of processes' }],
    indexes: [],
    purged: true,
  }),
}
