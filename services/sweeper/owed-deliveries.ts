// Deliveries that are queued in the store, and whose message the broker no longer has: it was lost, or is a dead letter. In: partitions.
// Out: their messages, published again. Consumers know a delivery by its id, so a message too many does no harm; but a channel that is
// stopped must not find its queue flooded. So a message is published again only when the channel's queue holds nothing that old, and no
// attempt or wait for a receipt is under way; and then at most after 1, 2, 4 … minutes. A message that waits for a busy provider is not seen,
// so where that takes long, one more may be published.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Config } from '../../infra/config/config.ts'
import { ulidTime } from '../../infra/ids.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import type { Channel } from '../../machines/channels.ts'
import type { Delivery } from '../../machines/otp.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { type AttemptDoc, type OtpDoc, ownedBy } from '../domain/verifications/documents.ts'
import { deliverMessage } from '../domain/verifications/outbox.ts'
import { LOOK_AFTER_MS } from '../domain/verifications/owed.ts'
import { channelQueue } from '../domain/verifications/queue-messages.ts'
import { createMayHold, GIVE_UP_AFTER_MS, waitAfterPublish, waitForBroker } from './lost-messages.ts'
import { findDue, type Sweep } from './sweep.ts'

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

export function createOwedDeliverySweeps(deps: OwedDeliveryDeps): Record<string, Sweep> {
  const { store, broker, config, clock, log } = deps
  const [otps, attempts] = [store.docs('otps'), store.docs('attempts')]
  const { timeoutMs, unknownWaitMs } = config.provider
  /** The longest that an attempt, the wait for its receipt and the wait for the next round take. */
  const attemptTakesMs = timeoutMs + unknownWaitMs + Math.max(0, ...config.backoff.channel)

  async function isUnderWay({ delivery_id }: Delivery, now: number): Promise<boolean> {
    const found = await attempts.find(ownedBy(delivery_id), { sort: { _id: 1 }, limit: MAX_ATTEMPTS_READ })
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

  /** Answers when to look again; null when there is nothing left to look for. */
  async function look(otp: OtpDoc, mayHold: MayHold, now: number): Promise<number | null> {
    const { deliveries } = toCurrentVersion(otp).context
    const inOutbox = new Set(otp.outbox.map(({ id }) => id))
    let nextMs = Number.POSITIVE_INFINITY
    for (const delivery of deliveries) {
      const ageMs = now - delivery.created_at
      if (delivery.status !== 'queued' || ageMs > GIVE_UP_AFTER_MS) continue
      // The sweep of the outbox publishes what is in it.
      const isWithBroker =
        inOutbox.has(delivery.delivery_id) ||
        (await mayHold(delivery.channel, delivery.created_at)) ||
        (await isUnderWay(delivery, now))
      if (!isWithBroker) publishAgain(otp, delivery)
      nextMs = Math.min(nextMs, isWithBroker ? waitForBroker(ageMs) : waitAfterPublish(ageMs, LOOK_AFTER_MS))
    }
    return nextMs === Number.POSITIVE_INFINITY ? null : now + nextMs
  }

  return {
    async owed_deliveries(partitions) {
      const now = clock.now()
      const due = await findDue(otps, partitions, 'owed_at', now)
      const mayHold = createMayHoldOfChannels(now)
      const looks = await Promise.all(due.map(otp => look(otp, mayHold, now)))
      await otps.update(due.map(({ _id }, at) => ({ ids: [_id], update: lookAgainAt(looks[at] ?? null) })))
      return due.length
    },
  }
}

/** Only while `owed_at` is set: a delivery that was sent since it was read is owed no more. */
const lookAgainAt = (at: number | null): Pipeline => [
  {
    $set: {
      owed_at: at === null ? '$$REMOVE' : { $cond: [{ $gt: ['$owed_at', 0] }, { $max: ['$owed_at', at] }, '$$REMOVE'] },
    },
  },
]
