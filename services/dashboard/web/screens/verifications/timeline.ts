// The timeline of a verification as rows for people. In: its history, and the time. Out: one row for each entry, in order: what happened,
// the details, the ids, and how long after the row before. Pure.
import { isSuccess } from '../../../../../machines/endpoint.ts'
import type { Schemas } from '../../api/schema.ts'
import { msBetween, shortDurationOfMs } from '../../data/duration.ts'
import { EVENT_STATUSES } from '../api-keys/webhook-text.ts'
import { channelInSentence, type History, reasonText } from './delivery-words.ts'
import { callOutcome, type TimelineEntry } from './provider-calls.ts'

export interface TimelineRow {
  at: string
  /** Undefined for the first row. */
  later: string | undefined
  tone: 'neutral' | 'good' | 'bad' | 'warning'
  title: string
  details: string[]
  ids: { name: string; id: string }[]
}

type Told = Omit<TimelineRow, 'at' | 'later'>

export const timelineRows = (history: History, now: number): TimelineRow[] =>
  history.timeline.map((entry, nth) => {
    const before = history.timeline[nth - 1]
    return {
      at: entry.at,
      later: before ? `${shortDurationOfMs(msBetween(before.at, entry.at))} later` : undefined,
      ...tellEntry(history, entry, now),
    }
  })

const row = (title: string, more: Partial<Omit<Told, 'title'>> = {}): Told => ({
  title,
  tone: 'neutral',
  details: [],
  ids: [],
  ...more,
})

function tellEntry(history: History, entry: TimelineEntry, now: number): Told {
  const message = messageNumber(history, entry)
  switch (entry.happened) {
    case 'otp.started':
      return row(`Started by ${keyText(entry.by)}`, { ids: keyIds(entry.by) })
    case 'otp.joined':
      return row(`Another send joined, by ${keyText(entry.by)}`, {
        details: ['It has an id and guesses of its own, and shares the code.'],
        ids: [...idOf('Id', entry.otp_id), ...keyIds(entry.by)],
      })
    case 'otp.approved':
      return row(entry.by ? 'Approved: the right code was entered' : "Approved by the user's WhatsApp message", {
        tone: 'good',
        ids: [...idOf('Id', entry.otp_id), ...keyIds(entry.by)],
      })
    case 'otp.failed':
      return row('Failed: too many wrong codes were entered', { tone: 'bad', ids: idOf('Id', entry.otp_id) })
    case 'otp.expired':
      return row(
        history.kind === 'message' ? 'Ended: it is not sent any more' : 'Expired: the code is no longer valid',
        { tone: 'warning' },
      )
    case 'token.exchanged':
      return row('The backend exchanged the verification token', { tone: 'good', ids: idOf('Key', entry.key_id) })
    case 'delivery.queued':
      return row(`${message} accepted, by ${entry.channel ? channelInSentence(entry.channel) : 'an unknown channel'}`, {
        details: contentsOf(history, entry),
        ids: idOf('Message', entry.delivery_id),
      })
    case 'delivery.sent':
      return row(`${message} was taken${entry.provider ? ` by ${entry.provider}` : ''}; no receipt so far`, {
        details: whyProvider(entry),
      })
    case 'delivery.delivered':
      return row(`${message} was delivered`, {
        tone: 'good',
        details: [...(entry.provider ? [`Reported by ${entry.provider}.`] : []), ...whyProvider(entry)],
      })
    case 'delivery.failed':
      return row(`${message} failed: ${reasonText(entry.reason)}`, { tone: 'bad', details: failureDetails(entry) })
    case 'delivery.arrived_late':
      return row(`${message} had arrived after all`, {
        tone: 'good',
        details: [`Reported ${entry.provider ? `by ${entry.provider} ` : ''}after the failure.`],
      })
    case 'provider.called':
      return row(`${message}: ${entry.provider} ${shortOutcome(entry, now)}`, {
        tone:
          entry.result === 'accepted'
            ? 'good'
            : entry.result === 'unknown'
              ? 'warning'
              : entry.result
                ? 'bad'
                : 'neutral',
        details: callDetails(entry),
        ids: idOf("Vendor's id", entry.reference),
      })
    case 'providers.exhausted':
      return row(`${message}: no provider took it in round ${entry.round ?? 1}`, { tone: 'warning' })
    case 'event.recorded':
      return row(`Webhook event ${entry.type} made`, {
        details: eventState(entry.status),
        ids: idOf('Event', entry.event_id),
      })
    case 'event.sent':
      return tellEventSent(entry)
    default:
      return row(entry.happened)
  }
}

/** "Message 2", by the order of the messages. */
function messageNumber({ deliveries }: History, { delivery_id }: TimelineEntry): string {
  const nth = deliveries.findIndex(delivery => delivery.delivery_id === delivery_id)
  return nth < 0 ? 'A message' : `Message ${nth + 1}`
}

function contentsOf({ deliveries }: History, { delivery_id, generation }: TimelineEntry): string[] {
  if (deliveries.some(delivery => delivery.delivery_id === delivery_id && delivery.asks_contact))
    return ['It carries no code: it asks the user for their number, which WhatsApp hides.']
  return (generation ?? 1) > 1 ? [`It carries code number ${generation} of this verification.`] : []
}

type Caller = Schemas['KeyCaller'] | null | undefined

const keyText = (by: Caller): string => (by ? `a ${by.kind} key` : 'an unknown key')

const keyIds = (by: Caller): TimelineRow['ids'] => idOf('Key', by?.key_id)

const idOf = (name: string, id: string | null | undefined): TimelineRow['ids'] => (id ? [{ name, id }] : [])

/** The words of the vendor stand below. */
const shortOutcome = (entry: TimelineEntry, now: number): string =>
  callOutcome({ ...entry, vendor_code: null, vendor_text: null }, 1, now)

function callDetails(entry: TimelineEntry): string[] {
  const { result, http_status, round, call } = entry
  const again = (call ?? 1) > 1 ? `, call ${call}` : ''
  return [
    // The titles of the other results name it.
    ...(result === 'accepted' && typeof http_status === 'number' ? [`HTTP ${http_status}`] : []),
    ...vendorLine(entry),
    ...((round ?? 1) > 1 || again ? [`Round ${round ?? 1}${again}`] : []),
    ...whyProvider(entry),
  ]
}

const failureDetails = (entry: TimelineEntry): string[] => [
  ...(entry.provider ? [`Reported by ${entry.provider}.`] : []),
  ...vendorLine(entry),
  ...whyProvider(entry),
]

const whyProvider = ({ because }: TimelineEntry): string[] => (because === undefined ? [] : [because])

function vendorLine({ vendor_code, vendor_text }: TimelineEntry): string[] {
  if (vendor_code && vendor_text) return [`Code ${vendor_code}: ${vendor_text}`]
  if (vendor_code) return [`Code ${vendor_code}`]
  return vendor_text ? [vendor_text] : []
}

const EVENT_STATES: Readonly<Record<string, { meaning: string }>> = EVENT_STATUSES

const eventState = (status: TimelineEntry['status']): string[] =>
  typeof status === 'string' ? [EVENT_STATES[status]?.meaning ?? `Its state is ${status}.`] : []

function tellEventSent({ type, status, error, ms, attempt }: TimelineEntry): Told {
  const took = typeof ms === 'number' ? ` after ${shortDurationOfMs(ms)}` : ''
  const isGood = typeof status === 'number' && isSuccess({ status })
  const answer =
    typeof status === 'number' ? `the endpoint answered ${status}${took}` : `the endpoint gave no answer${took}`
  return row(`Webhook event ${type}: ${answer}`, {
    tone: isGood ? 'good' : 'bad',
    details: [...(error ? [error] : []), ...((attempt ?? 1) > 1 ? [`Attempt ${attempt}`] : [])],
  })
}
