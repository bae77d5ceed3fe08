// The history of a verification: its own changes, its deliveries, the provider calls and the webhook events. In: the documents. Out: one
// list in the order of time, without the recipient and the client's address. Pure.

import { isoTime } from '../../../infra/iso-time.ts'
import { groupBy } from '../../../machines/group-by.ts'
import type { Delivery, Otp, RouteReason, SavedStatus } from '../../../machines/otp.ts'
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

export function createTimeline({ otp, status, attempts, events }: TimelineInput): TimelineEntryAnswer[] {
  const calls = groupBy(attempts.filter(isCall).toSorted(byTime), ({ delivery_id }) => delivery_id)
  /** Undefined for test messages, which have no choice of providers. */
  const why = ({ delivery_id, provider, because }: Pick<Delivery, 'delivery_id' | 'provider' | 'because'>) =>
    otp.mode === 'test' || provider === undefined
      ? undefined
      : whyCalled(provider, calls.get(delivery_id) ?? [], because)
  /** Undefined where the delivery's own entry tells it, and for further calls of a provider. */
  const whyTried = (call: AttemptDoc) =>
    call.result !== 'accepted' && call === firstCall(call.provider, calls.get(call.delivery_id) ?? [])
      ? why(call)
      : undefined
  return (
    [
      ...otpEntries(otp, status),
      ...otp.deliveries.flatMap(delivery => deliveryEntries(delivery, why(delivery))),
      ...attempts.map(attempt => attemptEntry(attempt, whyTried(attempt))),
      ...events.flatMap(eventEntries),
    ]
      // The sort is stable: entries of the same time stay in the order above, causes before effects.
      .sort((one, other) => one.at - other.at)
      .map(({ at, ...entry }) => ({ at: isoTime(at), ...entry }))
  )
}

const isCall = ({ provider }: AttemptDoc): boolean => provider !== END_OF_ROUND

/** Calls within one millisecond are in the order that the process knew which made them. */
const byTime = (one: AttemptDoc, other: AttemptDoc): number =>
  one.at - other.at || (one.maker?.try ?? 0) - (other.maker?.try ?? 0)

const firstCall = (provider: string, calls: readonly AttemptDoc[]): AttemptDoc | undefined =>
  calls.find(call => call.provider === provider)

/** Why a provider was called first for a message, by all calls for the message. What they tell is not stored; `stored` counts where the
 *  provider's own call could not be recorded. */
function whyCalled(provider: string, calls: readonly AttemptDoc[], stored: RouteReason | undefined): string {
  const first = firstCall(provider, calls)
  const reason = first ? first.because : stored
  if (reason !== undefined) return reasonWords(reason)
  const before = first ? calls[calls.indexOf(first) - 1] : calls.at(-1)
  if (before) return `The provider took over from ${before.provider}.`
  return 'The provider was the first in the list that could be used.'
}

/** A cancel has no entry: its time is not stored. */
function otpEntries(
  { first_sent_at, expires_at, started_by, approval, failed_at, joined = [], exchange }: Otp,
  status: SavedStatus,
): TimelineEntry[] {
  return [
    { at: first_sent_at, happened: 'otp.started', by: started_by },
    ...joined.map(({ joined_at, otp_id, by }) => ({ at: joined_at, happened: 'otp.joined', otp_id, by })),
    ...(approval ? [approvalEntry(approval)] : []),
    ...(failed_at === undefined ? [] : [{ at: failed_at, happened: 'otp.failed' }]),
    ...joined.flatMap(({ failed_at, otp_id }) =>
      failed_at === undefined ? [] : [{ at: failed_at, happened: 'otp.failed', otp_id }],
    ),
    ...(exchange ? [{ at: exchange.at, happened: 'token.exchanged', key_id: exchange.key_id }] : []),
    ...(status === 'expired' ? [{ at: expires_at, happened: 'otp.expired' }] : []),
  ]
}

const approvalEntry = ({ at, by, channel, otp_id }: NonNullable<Otp['approval']>): TimelineEntry => ({
  at,
  happened: 'otp.approved',
  by,
  channel,
  otp_id,
})

function deliveryEntries(delivery: Delivery, because: string | undefined): TimelineEntry[] {
  const { delivery_id, channel, generation, status, created_at, updated_at } = delivery
  const queued = { at: created_at, happened: 'delivery.queued', delivery_id, channel, generation }
  if (status === 'queued') return [queued]
  const provider = delivery.provider ?? null
  const reported = { at: updated_at, happened: `delivery.${status}`, delivery_id, channel, provider, because }
  if (status !== 'failed') return [queued, reported]
  const failed = { ...reported, ...failureOf(delivery) }
  const { late_receipt_at } = delivery
  if (late_receipt_at === undefined) return [queued, failed]
  return [queued, failed, { at: late_receipt_at, happened: 'delivery.arrived_late', delivery_id, channel, provider }]
}

const failureOf = ({ reason, vendor_code, vendor_text }: Delivery) => ({
  reason: reason ?? null,
  vendor_code: vendor_code ?? null,
  vendor_text: vendor_text ?? null,
})

function attemptEntry(attempt: AttemptDoc, because: string | undefined): TimelineEntry {
  const { at, delivery_id, provider, round, call = 1, result, reference } = attempt
  if (!isCall(attempt)) return { at, happened: 'providers.exhausted', delivery_id, round }
  const details = {
    http_status: attempt.http_status ?? null,
    vendor_code: attempt.vendor_code ?? null,
    vendor_text: attempt.vendor_text ?? null,
    ms: attempt.ms ?? null,
  }
  return { at, happened: 'provider.called', delivery_id, provider, round, call, result, reference, ...details, because }
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
