// The history of a verification: its own changes, its deliveries, the provider calls and the webhook events. In: the documents. Out: one
// list in the order of time, without the recipient and the client's address. Pure.

import { isoTime } from '../../../infra/iso-time.ts'
import type { Delivery, Otp, SavedStatus } from '../../../machines/otp.ts'
import { type AttemptDoc, END_OF_ROUND } from '../../domain/verifications/documents.ts'
import type { EventDoc } from '../../domain/webhooks/documents.ts'
import { eventId } from '../../domain/webhooks/event-ids.ts'
import { reasonWords } from '../learned-routes/words.ts'
import type { TimelineEntryAnswer } from './schemas.ts'

export interface TimelineInput {
  otp: Otp
  /** At the time of the request: a verification that has expired may still be stored as pending. */
  status: SavedStatus
  attempts: readonly AttemptDoc[]
  events: readonly EventDoc[]
}

/** Its time is in epoch milliseconds until the entries are sorted. */
type TimelineEntry = Omit<TimelineEntryAnswer, 'at'> & { at: number }

export const createTimeline = ({ otp, status, attempts, events }: TimelineInput): TimelineEntryAnswer[] =>
  [
    ...otpEntries(otp, status),
    ...otp.deliveries.flatMap(deliveryEntries),
    ...attempts.map(attemptEntry),
    ...events.flatMap(eventEntries),
  ]
    // The sort is stable: entries of the same time stay in the order above, causes before effects.
    .sort((one, other) => one.at - other.at)
    .map(({ at, ...entry }) => ({ at: isoTime(at), ...entry }))

/** A cancel has no entry: its time is not stored. */
function otpEntries(
  { first_sent_at, expires_at, started_by, approval, failed_at, exchange }: Otp,
  status: SavedStatus,
): TimelineEntry[] {
  return [
    { at: first_sent_at, happened: 'otp.started', by: started_by },
    ...(approval ? [{ at: approval.at, happened: 'otp.approved', by: approval.by, channel: approval.channel }] : []),
    ...(failed_at === undefined ? [] : [{ at: failed_at, happened: 'otp.failed' }]),
    ...(exchange ? [{ at: exchange.at, happened: 'token.exchanged', key_id: exchange.key_id }] : []),
    ...(status === 'expired' ? [{ at: expires_at, happened: 'otp.expired' }] : []),
  ]
}

function deliveryEntries(delivery: Delivery): TimelineEntry[] {
  const { delivery_id, channel, generation, status, created_at, updated_at } = delivery
  const queued = { at: created_at, happened: 'delivery.queued', delivery_id, channel, generation }
  if (status === 'queued') return [queued]
  const provider = delivery.provider ?? null
  const because = delivery.because ? { because: reasonWords(delivery.because) } : {}
  const reported = { at: updated_at, happened: `delivery.${status}`, delivery_id, channel, provider, ...because }
  return [queued, status === 'failed' ? { ...reported, ...failureOf(delivery) } : reported]
}

const failureOf = ({ reason, vendor_code, vendor_text }: Delivery) => ({
  reason: reason ?? null,
  vendor_code: vendor_code ?? null,
  vendor_text: vendor_text ?? null,
})

function attemptEntry(attempt: AttemptDoc): TimelineEntry {
  const { at, delivery_id, provider, round, call = 1, result, reference } = attempt
  if (provider === END_OF_ROUND) return { at, happened: 'providers.exhausted', delivery_id, round }
  const details = {
    http_status: attempt.http_status ?? null,
    vendor_code: attempt.vendor_code ?? null,
    vendor_text: attempt.vendor_text ?? null,
    ms: attempt.ms ?? null,
  }
  return { at, happened: 'provider.called', delivery_id, provider, round, call, result, reference, ...details }
}

function eventEntries(event: EventDoc): TimelineEntry[] {
  const { type, created_at, status, attempts } = event
  // The first endpoint of an app is not named, as little as where there is none.
  const to = event.endpoint_id === undefined ? {} : { endpoint_id: event.endpoint_id }
  const about = { event_id: eventId(event), ...to, type }
  return [
    { at: created_at, happened: 'event.recorded', ...about, status },
    ...attempts.map(({ at, round, attempt, status, error, ms }) => ({
      at,
      happened: 'event.sent',
      ...about,
      round,
      attempt,
      status,
      error,
      ms,
    })),
  ]
}
