// What waits to be sent: deliveries by channel, and webhook events. In: the store, and the queue of the webhook actor.
// Out: how many could be worked on now, and how long the one that waits longest has waited. A delivery that is `queued`
// is in the index of `owed_at`, wherever its message is: in the channel's queue, in a consumer, or in a wait queue.
// Those whose provider is being called are subtracted.
import type { Broker } from '../../../infra/broker/broker.ts'
import { depthIfKnown } from '../../../infra/broker/depth.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Docs, Filter } from '../../../infra/store/docs.ts'
import type { StoreOf } from '../../../infra/store/store.ts'
import { CHANNELS, type Channel } from '../../../machines/channels.ts'
import type { OtpDoc, VerificationStore } from '../verifications/documents.ts'
import type { EventDoc, WEBHOOK_COLLECTIONS } from '../webhooks/documents.ts'
import { eventFilterOf, refOf } from '../webhooks/endpoint-ids.ts'
import type { BACKLOG_COLLECTIONS, ChannelLoadDoc } from './documents.ts'

export interface Owed {
  owed: number
  oldest_seconds: number
}

export interface Backlog {
  at: number
  channels: Record<Channel, Owed>
  events: Owed
}

/** Counted no further. */
const MOST_COUNTED = 100_000
/** The most of those in hand that are read. They are among the oldest, so one more than there are shows the oldest that waits. */
const MOST_READ = 5_000
const MOST_PROCESSES = 10_000
const MOST_ENDPOINTS = 1_000

export interface BacklogDeps {
  store: VerificationStore & StoreOf<typeof WEBHOOK_COLLECTIONS> & StoreOf<typeof BACKLOG_COLLECTIONS>
  broker: Pick<Broker, 'depth'>
  clock: Clock
}

export async function readBacklog({ store, broker, clock }: BacklogDeps): Promise<Backlog> {
  const at = clock.now()
  const [loads, events] = await Promise.all([
    findLoads(store.docs('channel_loads'), at),
    readEvents({ store, broker, clock }, at),
  ])
  const otps = store.docs('otps')
  const owed = await Promise.all(
    CHANNELS.map(async channel => [channel, await readChannel(otps, channel, loads, at)] as const),
  )
  return { at, channels: Object.fromEntries(owed) as Record<Channel, Owed>, events }
}

/** Events in the backlogs of endpoints that are called, and the messages that no webhook process has taken. */
async function readEvents({ store, broker, clock }: BacklogDeps, now: number): Promise<Owed> {
  const [endpoints, depth] = await Promise.all([
    store.docs('webhooks').find({ drain_at: { $gt: 0 } }, { sort: { drain_at: 1 }, limit: MOST_ENDPOINTS }),
    depthIfKnown(broker, 'webhook.deliver', clock),
  ])
  const events = store.docs('events')
  const backlogs = await Promise.all(
    endpoints
      .filter(({ status }) => status === 'active')
      .map(async endpoint => {
        const filter: Filter<EventDoc> = { ...eventFilterOf(refOf(endpoint)), backlog_at: { $gt: 0 } }
        const [owed, [oldest]] = await Promise.all([
          events.count(filter, MOST_COUNTED),
          events.find(filter, { sort: { backlog_at: 1 }, limit: 1, only: ['backlog_at'] }),
        ])
        return { owed, oldestMs: now - (oldest?.backlog_at ?? now) }
      }),
  )
  const queued = { owed: depth?.ready ?? 0, oldestMs: depth?.oldestMs ?? 0 }
  const all = [queued, ...backlogs]
  return {
    owed: Math.min(
      MOST_COUNTED,
      all.reduce((sum, { owed }) => sum + owed, 0),
    ),
    oldest_seconds: seconds(Math.max(...all.map(({ oldestMs }) => oldestMs))),
  }
}

/** What the processes that live have said last. */
export const findLoads = async (loads: Pick<Docs<ChannelLoadDoc>, 'find'>, now: number): Promise<ChannelLoadDoc[]> => {
  const found = await loads.find({ _id: { $gt: '' } }, { sort: { _id: 1 }, limit: MOST_PROCESSES })
  return found.filter(({ valid_until }) => valid_until > now)
}

/** The deliveries of a channel that are `queued`, since a time and until another. */
export const owedOn = (channel: Channel, since: number, until: number): Filter<OtpDoc> => ({
  owed_channel: channel,
  owed_at: { $gt: since, $lte: until },
})

async function readChannel(
  otps: Pick<Docs<OtpDoc>, 'count' | 'find'>,
  channel: Channel,
  loads: readonly ChannelLoadDoc[],
  now: number,
): Promise<Owed> {
  const inHand = new Set(loads.flatMap(load => (load.channel === channel ? load.in_hand : [])))
  const filter = owedOn(channel, 0, now)
  const owed = (await otps.count(filter, MOST_COUNTED + inHand.size)) - inHand.size
  if (owed <= 0) return { owed: 0, oldest_seconds: 0 }
  const oldest = await otps.find(filter, {
    sort: { owed_at: 1 },
    limit: Math.min(inHand.size + 1, MOST_READ),
    only: ['owed_at'],
  })
  const waiting = oldest.find(({ _id }) => !inHand.has(_id)) ?? oldest.at(-1)
  return { owed, oldest_seconds: seconds(now - (waiting?.owed_at ?? now)) }
}

const seconds = (ms: number): number => Math.round(Math.max(0, ms) / 1_000)
