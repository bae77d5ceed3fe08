// What an accepted send still owes, as its own document tells it: deliveries that are `queued`, the webhook events that
// it has caused, and the entries of the ledger for deliveries that failed. The broker has a message for each. Should
// the broker lose it, or bury it as a dead letter, the sweeper finds the delivery by `owed_at`, or that the webhook
// actor has not stored the event, and publishes the message again. A missing entry it makes itself.
import type { Pipeline } from '../../../infra/store/docs.ts'
import type { Channel } from '../../../machines/channels.ts'
import { approvedId, idOf, idsOf, ownEnd, triesOf } from '../../../machines/otp.ids.ts'
import { carriesCode, isMessage } from '../../../machines/otp.queries.ts'
import type { Delivery, EventEffect, Otp } from '../../../machines/otp.ts'
import type { SavedOtp } from '../../../machines/otp.versions.ts'
import { deliveryEvent, otpEvent, type WebhookEvent } from '../../../machines/webhook-events.ts'
import { type Entry, rechargeEntry, refundEntry } from '../money/documents.ts'
import { eventIdFor } from '../webhooks/event-ids.ts'

/** Nearly all deliveries are sent long before: then the sweeper has nothing to look at. It is longer than the waits of a usual retry. */
export const LOOK_AFTER_MS = 20_000

/** The delivery that is still to be sent: the newest, where there are several. */
export const owedDelivery = ({ deliveries }: Pick<Otp, 'deliveries'>): Delivery | undefined =>
  deliveries.findLast(({ status }) => status === 'queued')

/** While its channel waits for something: then the delivery cannot be worked on before `until`. */
export const notOwedBefore = (until: number, channel: Channel): Pipeline => [
  {
    $set: {
      owed_at: {
        $cond: [
          { $gt: ['$owed_at', 0] },
          { $cond: [{ $eq: ['$owed_channel', channel] }, until, '$owed_at'] },
          '$$REMOVE',
        ],
      },
    },
  },
]

/** Nearly all events are stored long before. It is also longer than any write takes: the sweeper goes by this time and never back. */
export const LOOK_FOR_EVENTS_AFTER_MS = 30_000

/** When the sweeper looks for the events of a change that is saved at this time. */
export const lookForEventsAt = (at: number): number => at + LOOK_FOR_EVENTS_AFTER_MS

/** A delivery that failed is refunded, unless its price is kept, and charged again where its code was entered. */
export function entriesOf(otp_id: string, { delivery_id, status, micros, charge }: Delivery): Entry[] {
  if (status !== 'failed' || !micros || charge === 'kept') return []
  const refund = refundEntry(otp_id, delivery_id, micros)
  return charge === 'again' ? [refund, rechargeEntry(otp_id, delivery_id, micros)] : [refund]
}

export interface CausedEvent {
  effect: EventEffect
  at: number
}

export function eventsOf({ value, context }: Pick<SavedOtp, 'value' | 'context'>): CausedEvent[] {
  const { approval, deliveries } = context
  const caused = (subject: string, at: number, event: WebhookEvent): CausedEvent => ({
    at,
    effect: { type: 'notify', id: eventIdFor(subject, at), ...event },
  })
  const events: CausedEvent[] = []
  for (const delivery of deliveries.filter(carriesCode)) {
    const { delivery_id, status, updated_at } = delivery
    if (status !== 'delivered' && status !== 'failed') continue
    const event = deliveryEvent(idOf(context, delivery), delivery_id, status, isMessage(context))
    events.push(caused(delivery_id, updated_at, event))
  }
  for (const otp_id of idsOf(context)) {
    const { failed_at, ended_at } = triesOf(context, otp_id)
    const end = ownEnd(context, otp_id) ?? value
    if (end === 'approved' && approval && approvedId(context) === otp_id)
      events.push(caused(otp_id, approval.at, otpEvent(otp_id, end)))
    if (end === 'failed' && failed_at !== undefined) events.push(caused(otp_id, failed_at, otpEvent(otp_id, end)))
    if ((end === 'expired' || end === 'canceled') && ended_at !== undefined)
      events.push(caused(otp_id, ended_at, otpEvent(otp_id, end)))
  }
  return events
}
