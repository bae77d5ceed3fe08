// Deliveries that are queued in the store, and whose message the broker no longer has: it was lost, or is a dead
// letter. In: time. Out: their messages, published again. Consumers know a delivery by its id, so a message too many
// does no harm; but it fills a queue that is already full, and a channel that is stopped must not find its queue
// flooded. So a message is published again only when no process has it and no queue holds it: the channel's queue holds
// nothing that old, no message of its app is held or goes round because its providers are busy, and no attempt or wait
// is under way; and then at most after 1, 2, 4 … minutes. One process does this, over all partitions.

import { createBoundedMap } from '../../infra/bounded-map.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import { ulidTime } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import { idsUnder } from '../../infra/store/store.ts'
import { CHANNELS, type Channel } from '../../machines/channels.ts'
import type { Delivery } from '../../machines/otp.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import { findLoads, owedOn } from '../domain/backlog/backlog.ts'
import type { ChannelLoadDoc } from '../domain/backlog/documents.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { AttemptDoc, OtpDoc } from '../domain/verifications/documents.ts'
import { deliverMessage } from '../domain/verifications/outbox.ts'
import { LOOK_AFTER_MS } from '../domain/verifications/owed.ts'
import { channelQueue } from '../domain/verifications/queue-messages.ts'
import { createMayHold, GIVE_UP_AFTER_MS, waitAfterPublish } from './lost-messages.ts'
import { byOneProcess, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface OwedDeliveryDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish' | 'depth'>
  config: Pick<Config, 'provider' | 'backoff'>
  clock: Clock
  log: Logger
}

const MAX_ATTEMPTS_READ = 100
/** Among so many, there are some of every channel that is busy. */
const NEWEST_ATTEMPTS_READ = 200
/** The id of an attempt begins with that of its delivery; that of an approval reply with that of its verification. */
const OF_ALL_DELIVERIES = { _id: { $gte: 'dlv_', $lt: 'dlv`' } }

/** Whether a channel's queue may hold the message of a delivery of this time. */
type MayHold = (channel: Channel, at: number) => Promise<boolean>

/** How far a channel has been looked through, from the delivery that waits longest. */
interface Pass {
  after: number
  nextAt: number
}

/** The next pass begins so long after one that found something. */
const NEXT_PASS_MS = 10_000
const MAX_PUBLISHED = 20_000

export function createOwedDeliverySweeps(deps: OwedDeliveryDeps): Record<string, Sweep> {
  const { store, broker, config, clock, log } = deps
  const [otps, attempts] = [store.docs('otps'), store.docs('attempts')]
  const { timeoutMs, unknownWaitMs } = config.provider
  /** The longest that an attempt, the wait for its receipt and the wait for the next round take. */
  const attemptTakesMs = timeoutMs + unknownWaitMs + Math.max(0, ...config.backoff.channel)
  const passes = new Map<Channel, Pass>()
  /** When a delivery may be published once more. Another process that takes over publishes one message too many. */
  const mayPublishAt = createBoundedMap<number>(MAX_PUBLISHED)

  async function isUnderWay({ delivery_id }: Delivery, now: number): Promise<boolean> {
    const found = await attempts.find(idsUnder(delivery_id), { sort: { _id: 1 }, limit: MAX_ATTEMPTS_READ })
    return found.some(({ at, unknown_at = at }) => now - unknown_at < attemptTakesMs)
  }

  /** Asks each queue, and the store, once. An attempt shows that a consumer has taken a delivery's message, and its id begins with the
   *  delivery's, which begins with its time. */
  function createMayHoldOfChannels(now: number): MayHold {
    let newest: Promise<AttemptDoc[]> | null = null
    const newestTaken = async (channel: Channel): Promise<number> => {
      newest ??= attempts.find(OF_ALL_DELIVERIES, { sort: { _id: -1 }, limit: NEWEST_ATTEMPTS_READ })
      const taken = (await newest).find(one => one.channel === channel)
      return taken === undefined ? 0 : (ulidTime(taken.delivery_id) ?? 0)
    }
    const queues = new Map<Channel, (at: number) => Promise<boolean>>()
    return (channel, at) => {
      const mayHold =
        queues.get(channel) ??
        createMayHold({ broker, clock, queue: channelQueue(channel), newestTaken: () => newestTaken(channel), now })
      queues.set(channel, mayHold)
      return mayHold(at)
    }
  }

  /** In the background: on the embedded broker a publish resolves when the message is done. */
  function publishAgain(otp: OtpDoc, delivery: Delivery): void {
    const { delivery_id, channel } = delivery
    const queue = channelQueue(channel)
    const fields = { otp_id: otp._id, delivery_id, queue }
    log.warn(fields, 'delivery.published_again')
    broker
      .publish(queue, { ...deliverMessage(otp, delivery), publishedAgain: true })
      .catch(error => log.warn({ ...fields, err: error }, 'delivery.not_published_again'))
  }

  /** Answers whether there is nothing left to look for. */
  async function look(otp: OtpDoc, busyApps: ReadonlySet<string>, mayHold: MayHold, now: number): Promise<boolean> {
    const { deliveries } = toCurrentVersion(otp).context
    const inOutbox = new Set(otp.outbox.map(({ id }) => id))
    const queued = deliveries.filter(one => one.status === 'queued' && now - one.created_at <= GIVE_UP_AFTER_MS)
    for (const delivery of queued) {
      const { delivery_id, channel, created_at } = delivery
      if ((mayPublishAt.get(delivery_id) ?? 0) > now) continue
      // The sweep of the outbox publishes what is in it.
      const isHeld =
        inOutbox.has(delivery_id) ||
        (otp.mode === 'live' && busyApps.has(otp.app_id)) ||
        (await mayHold(channel, created_at)) ||
        (await isUnderWay(delivery, now))
      if (isHeld) continue
      publishAgain(otp, delivery)
      mayPublishAt.set(delivery_id, now + waitAfterPublish(now - created_at, LOOK_AFTER_MS))
    }
    return queued.length === 0
  }

  /** One page, of those that have waited for a while. */
  async function sweepChannel(
    channel: Channel,
    loads: readonly ChannelLoadDoc[],
    mayHold: MayHold,
    now: number,
  ): Promise<number> {
    const { after, nextAt } = passes.get(channel) ?? { after: 0, nextAt: 0 }
    if (now < nextAt) return 0
    const due = await otps.find(owedOn(channel, after, now - LOOK_AFTER_MS), {
      sort: { owed_at: 1 },
      limit: SWEEP_BATCH,
    })
    const busyApps = new Set(loads.flatMap(load => (load.channel === channel ? load.busy_apps : [])))
    const over = await Promise.all(due.map(otp => look(otp, busyApps, mayHold, now)))
    await otps.update(
      due.flatMap(({ _id, owed_at }, at) => (over[at] ? [{ ids: [_id], update: forget(owed_at ?? 0) }] : [])),
    )
    if (due.length === SWEEP_BATCH) passes.set(channel, { after: endOf(due), nextAt: 0 })
    else passes.set(channel, { after: 0, nextAt: after > 0 || due.length > 0 ? now + NEXT_PASS_MS : 0 })
    return due.length
  }

  return {
    owed_deliveries: byOneProcess(async () => {
      const now = clock.now()
      const mayHold = createMayHoldOfChannels(now)
      const loads = await findLoads(store.docs('channel_loads'), now)
      const looked = await Promise.all(CHANNELS.map(channel => sweepChannel(channel, loads, mayHold, now)))
      // The next page is for the next run: a long backlog is no hurry.
      return Math.min(
        looked.reduce((sum, count) => sum + count, 0),
        SWEEP_BATCH - 1,
      )
    }),
  }
}

/** A full page may have cut a millisecond in two, so its last millisecond is looked at again. */
function endOf(page: readonly OtpDoc[]): number {
  const [first, last] = [page[0]?.owed_at ?? 0, page.at(-1)?.owed_at ?? 0]
  return first < last ? last - 1 : last
}

/** Unless a newer delivery has set another time since. */
const forget = (read: number): Pipeline => [
  {
    $set: {
      owed_at: { $cond: [{ $eq: ['$owed_at', read] }, '$$REMOVE', '$owed_at'] },
      owed_channel: { $cond: [{ $eq: ['$owed_at', read] }, '$$REMOVE', '$owed_channel'] },
    },
  },
]
