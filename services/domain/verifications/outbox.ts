// The outbox of a verification: effects are saved with the change that caused them, published after it, and removed once the broker has
// them. Webhook events need no place in it, because the verification itself tells them (owed.ts): see docs/decisions/outbox.md.
import type { Message } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Docs, GroupUpdate, Pipeline } from '../../../infra/store/docs.ts'
import { createTimer } from '../../../infra/timeout.ts'
import { requestOf, type Trace, withTrace } from '../../../infra/trace.ts'
import type { Delivery, Effect } from '../../../machines/otp.ts'
import type { NotifyBody } from '../webhooks/queue-messages.ts'
import type { OtpDoc } from './documents.ts'
import { channelQueue, type DeliverBody, type OtpReport, type OutboxEntry } from './queue-messages.ts'

type Owner = Pick<OtpDoc, '_id' | 'app_id' | 'company_id' | 'mode'>

/** The queue and the message of each effect: ids only, no secrets. Those of `isInOutbox` are saved in the outbox. */
export const effectMessages = (
  otp: Owner,
  effects: readonly Effect[],
  at: number,
  trace: Trace | undefined,
): OutboxEntry[] => effects.map(effect => ({ ...messageOf(otp, effect, at), at, ...withTrace(trace) }))

export const isInOutbox = ({ queue }: Pick<OutboxEntry, 'queue'>): boolean => queue !== 'webhook.deliver'

function messageOf(otp: Owner, effect: Effect, at: number): Pick<OutboxEntry, 'id' | 'queue' | 'body'> {
  const { app_id, company_id, mode } = otp
  if (effect.type === 'deliver') {
    const { id, channel, generation } = effect
    return { queue: channelQueue(channel), ...deliverMessage(otp, { delivery_id: id, generation }) }
  }
  if (effect.type === 'refund' || effect.type === 'recharge') {
    const { id, delivery_id, micros } = effect
    const type = effect.type === 'refund' ? 'delivery.refunded' : 'delivery.recharged'
    const body: OtpReport = { type, company_id, otp_id: otp._id, delivery_id, micros }
    return { id, queue: 'otp.reports', body }
  }
  const body: NotifyBody = {
    event_id: effect.id,
    app_id,
    company_id,
    mode,
    type: effect.event,
    payload: effect.payload,
    at,
  }
  return { id: effect.id, queue: 'webhook.deliver', body }
}

/** The message of a delivery, from what is stored of it. */
export function deliverMessage(
  { _id: otp_id, app_id, company_id, mode }: Owner,
  { delivery_id, generation }: Pick<Delivery, 'delivery_id' | 'generation'>,
): Pick<Message, 'id' | 'body'> {
  const live = mode === 'live' ? { live: { company_id, app_id } } : {}
  const body: DeliverBody = { otp_id, delivery_id, generation, ...live }
  return { id: delivery_id, body }
}

export interface Relay {
  /** Publishes in the background and removes published effects from the outbox, if they are in it. Never fails: an effect that cannot be
   *  published is tried again for some seconds and then left to the sweeper. */
  publish(otp_id: string, effects: readonly OutboxEntry[], isKept?: (effect: OutboxEntry) => boolean): void
  /** The ids of effects that are published and still in the verification's outbox. */
  published(otp_id: string): readonly string[]
  /** These effects are no longer in the outbox: another write has removed them. They may still be being published. */
  removed(otp_id: string, ids: readonly string[]): void
  /** Resolves when all effects so far are published, or have failed, and the published ones are removed. From then on none is tried
   *  again. */
  settled(): Promise<void>
}

/** A verification has several effects in its first seconds: the delay lets one write remove them all. It is well below the age at which
 *  the sweeper publishes an effect again. */
const REMOVE_AFTER_MS = 3_000
/** Few, because each verification of a write is compared with the effects of all of them. */
const MAX_OTPS_PER_WRITE = 32
/** An effect that the broker refused is published again for a while, because a user may wait for it. It ends before the sweeper takes over:
 *  two that publish the same effect would only load a broker that is in trouble. */
const PUBLISH_AGAIN_EVERY_MS = 500
const PUBLISH_AGAIN_FOR_MS = 8_000
/** More are left to the sweeper. */
const MAX_WAITING_EFFECTS = 5_000

export interface RelayDeps {
  /** `publishedAgain`: it may have been published before. */
  publishEffect(effect: OutboxEntry, publishedAgain: boolean): Promise<void>
  otps: Pick<Docs<OtpDoc>, 'update'>
  clock: Pick<Clock, 'now' | 'after'>
  log: Logger
}

export function createRelay({ publishEffect, otps, clock, log }: RelayDeps): Relay {
  const publishing = new Set<Promise<void>>()
  /** Ids of effects that are being published, and of those among them that another write has removed from the outbox meanwhile. */
  const unconfirmed = new Set<string>()
  const removedEarly = new Set<string>()
  /** Ids of published effects that are still in the outbox, by verification. */
  const published = new Map<string, string[]>()
  /** Effects that wait to be published again; each is cancelled by its function. */
  const waiting = new Set<() => void>()
  let removing = Promise.resolve()
  const removalTimer = createTimer(clock)
  let settling = false

  function scheduleRemoval(otp_id: string, id: string): void {
    published.set(otp_id, [...(published.get(otp_id) ?? []), id])
    removalTimer.set(REMOVE_AFTER_MS, removePublished)
  }

  function removePublished(): void {
    removalTimer.cancel()
    const all = [...published]
    published.clear()
    removing = removing.then(async () => {
      for (let at = 0; at < all.length; at += MAX_OTPS_PER_WRITE)
        await otps
          .update([removalOf(all.slice(at, at + MAX_OTPS_PER_WRITE))])
          .catch(error => log.warn({ err: error, verifications: all.length }, 'effects.removal_failed'))
    })
  }

  function publishOne(otp_id: string, effect: OutboxEntry, isKept: boolean, firstTriedAt: number | null = null): void {
    const triedAt = clock.now()
    const { id, queue } = effect
    const sending = publishEffect(effect, firstTriedAt !== null)
      .then(
        () => {
          if (isKept && !removedEarly.has(id)) scheduleRemoval(otp_id, id)
        },
        error => {
          if (removedEarly.has(id)) return
          const fields = { otp_id, queue, effect_id: id, ...requestOf(effect) }
          if (firstTriedAt === null) log.warn({ ...fields, err: error }, 'effect.publish_failed')
          publishLater(otp_id, effect, isKept, firstTriedAt ?? triedAt)
        },
      )
      .finally(() => {
        publishing.delete(sending)
        unconfirmed.delete(id)
        removedEarly.delete(id)
      })
    publishing.add(sending)
    unconfirmed.add(id)
  }

  function publishLater(otp_id: string, effect: OutboxEntry, isKept: boolean, firstTriedAt: number): void {
    const nextAt = clock.now() + PUBLISH_AGAIN_EVERY_MS
    if (settling || nextAt > firstTriedAt + PUBLISH_AGAIN_FOR_MS || waiting.size >= MAX_WAITING_EFFECTS) return
    const cancelWait = clock.after(PUBLISH_AGAIN_EVERY_MS, () => {
      waiting.delete(cancelWait)
      publishOne(otp_id, effect, isKept, firstTriedAt)
    })
    waiting.add(cancelWait)
  }

  return {
    publish(otp_id, effects, isKept = isInOutbox) {
      for (const effect of effects) publishOne(otp_id, effect, isKept(effect))
    },
    published: otp_id => published.get(otp_id) ?? [],
    removed(otp_id, ids) {
      for (const id of ids) if (unconfirmed.has(id)) removedEarly.add(id)
      const left = (published.get(otp_id) ?? []).filter(id => !ids.includes(id))
      if (left.length > 0) published.set(otp_id, left)
      else published.delete(otp_id)
    },
    async settled() {
      settling = true
      for (const cancelWait of waiting) cancelWait()
      waiting.clear()
      await Promise.all(publishing)
      removePublished()
      await removing
    },
  }
}

/** The message that publishes an effect. */
export const messageIn = ({ id, body, trace }: OutboxEntry, publishedAgain = false): Message => ({
  id,
  body,
  ...(publishedAgain ? { publishedAgain } : {}),
  ...withTrace(trace),
})

/** All verifications get the same update, because the ids of effects are unique. */
const removalOf = (published: readonly [string, string[]][]): GroupUpdate<OtpDoc> => ({
  ids: published.map(([otp_id]) => otp_id),
  update: removeEffects(published.flatMap(([, effectIds]) => effectIds)),
})

/** Removes effects from the outbox at any `rev`, and clears `outbox_at` when the outbox is empty. */
const removeEffects = (ids: readonly string[]): Pipeline => [
  {
    $set: { outbox: { $filter: { input: '$outbox', as: 'effect', cond: { $not: [{ $in: ['$$effect.id', ids] }] } } } },
  },
  { $set: { outbox_at: { $cond: [{ $eq: [{ $size: '$outbox' }, 0] }, null, '$outbox_at'] } } },
]
