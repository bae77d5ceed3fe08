// One message of a verification, in words. In: the delivery, its provider calls, the state of the verification, the time. Out: a sentence
// that says what became of it, how sure that is, and what can be done. It never guesses: what the records do not show is said to be
// unknown.
import type { Schemas } from '../../api/schema.ts'
import { CHANNEL_NAMES } from '../../data/channels.ts'
import { msBetween, shortDurationOfMs } from '../../data/duration.ts'
import {
  callClauses,
  endOfCall,
  isProviderCall,
  mayHaveBeenSent,
  type TimelineEntry,
  vendorWords,
} from './provider-calls.ts'

export type History = Schemas['VerificationHistory']
export type Delivery = Schemas['DeliveryRecord']
export type Channel = Schemas['Channel']
export type FailureReason = Schemas['FailureReason']

/** What is known about the arrival of a message. */
export type Arrival = 'arrived' | 'under way' | 'unknown' | 'not arrived'

export interface Remedy {
  says: string
  /** The screen of the app where it is done. */
  screen?: '/providers' | '/routing' | '/money' | '/queues' | '/try'
}

export interface DeliveryStory {
  arrival: Arrival
  /** Ends with a full stop. */
  sentence: string
  remedies: Remedy[]
}

export const channelInSentence = (channel: Channel): string => (channel === 'email' ? 'email' : CHANNEL_NAMES[channel])

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** For lists and headings, where there is no room for a sentence. */
const REASONS: Readonly<Record<FailureReason, string>> = {
  recipient_unreachable: 'the recipient cannot be reached',
  provider_failed: 'no provider could send it',
  no_answer: 'the provider gave no answer',
  superseded: 'it was no longer wanted',
  no_provider: 'there was no provider',
  insufficient_funds: 'it could not be paid',
}

export const reasonText = (reason: FailureReason | null | undefined): string =>
  reason ? (REASONS[reason] ?? reason) : 'the reason is not recorded'

/** The newest message of a verification in a few words. */
export function deliveryState({ status, reason }: Pick<Delivery, 'status' | 'reason'>): string {
  if (status === 'failed') return `Failed: ${reasonText(reason)}`
  return { queued: 'Waiting to be sent', sent: 'Sent, no receipt', delivered: 'Delivered' }[status]
}

/** After this time without a receipt, or in the queue, something is most likely wrong. */
const LONG_WAIT_MS = 60_000

export function tellDelivery(history: History, delivery: Delivery, now: number): DeliveryStory {
  const entries = history.timeline.filter(({ delivery_id }) => delivery_id === delivery.delivery_id)
  const calls = entries.filter(isProviderCall)
  switch (delivery.status) {
    case 'delivered':
      return tellDelivered(delivery, calls, now)
    case 'sent':
      return tellSent(delivery, calls, now)
    case 'queued':
      return tellQueued(history, delivery, calls, now)
    case 'failed':
      return tellLateReceipt(delivery, tellFailed({ history, delivery, entries, calls, now }))
  }
}

function tellDelivered(delivery: Delivery, calls: TimelineEntry[], now: number): DeliveryStory {
  const { created_at, updated_at, provider } = delivery
  const told = (clause: string): DeliveryStory => ({
    arrival: 'arrived',
    sentence: sentence([...callClauses(calls, now), clause]),
    remedies: [],
  })
  const last = calls.at(-1)
  if (!last) return told(`delivered ${shortDurationOfMs(msBetween(created_at, updated_at))} after it was accepted`)
  // After a call without a clear answer another provider is called, and then the receipt of the first may come.
  const call = calls.findLast(one => one.provider === provider) ?? last
  const waited = Date.parse(updated_at) - endOfCall(call)
  // A receipt may overtake the answer to the call.
  const when = waited <= 0 ? 'at once' : `${shortDurationOfMs(waited)} later`
  return told(call.provider === last.provider ? `delivered ${when}` : `delivered by the provider ${provider}`)
}

function tellSent({ provider, updated_at }: Delivery, calls: TimelineEntry[], now: number): DeliveryStory {
  const taken = calls.some(({ result }) => result === 'accepted')
  const clauses = callClauses(calls, now)
  if (!taken) clauses.push(provider ? `the provider ${provider} took it` : 'a provider took it')
  const waited = now - Date.parse(updated_at)
  const end =
    waited < LONG_WAIT_MS
      ? 'no receipt has come yet'
      : `no receipt has come for ${shortDurationOfMs(waited)}, so it is not known whether it arrived`
  return {
    arrival: waited < LONG_WAIT_MS ? 'under way' : 'unknown',
    sentence: sentence([...clauses, end]),
    remedies: waited < LONG_WAIT_MS ? [] : [{ says: RECEIPTS_HINT, screen: '/providers' }],
  }
}

const RECEIPTS_HINT =
  'A provider reports arrivals only if it supports receipts and can reach this Countersign; email servers report none.'

function tellQueued(history: History, { created_at }: Delivery, calls: TimelineEntry[], now: number): DeliveryStory {
  const waited = now - Date.parse(created_at)
  const isLate = waited >= LONG_WAIT_MS
  const clauses = callClauses(calls, now)
  if (history.status !== 'pending')
    clauses.push(
      calls.length === 0
        ? 'the verification has ended, and no call of a provider is recorded'
        : 'the verification has ended, and no provider is recorded to have taken it',
    )
  else if (calls.length > 0) clauses.push('no provider has taken it yet, and it is tried again')
  else if (isLate) clauses.push(`the message has waited for ${shortDurationOfMs(waited)}, and no provider was called`)
  else clauses.push('the message is on its way to a provider')
  return {
    arrival: history.status === 'pending' ? 'under way' : 'unknown',
    sentence: sentence(clauses),
    remedies:
      history.status === 'pending' && isLate
        ? [{ says: 'The process that calls providers may be down or busy.', screen: '/queues' }]
        : [],
  }
}

interface Failure {
  history: History
  delivery: Delivery
  entries: TimelineEntry[]
  calls: TimelineEntry[]
  now: number
}

/** What came after the failure: a receipt of its arrival, and whether it is paid. */
function tellLateReceipt({ late_receipt, charge, reason }: Delivery, story: DeliveryStory): DeliveryStory {
  const after = [story.sentence]
  if (late_receipt) after.push('A later receipt said that it had arrived.')
  const paidBecause = reason === 'superseded' ? 'a provider may have got it' : 'its code was entered'
  if (charge) after.push(`It is paid, because ${late_receipt ? 'it arrived' : paidBecause}.`)
  return late_receipt
    ? { arrival: 'arrived', sentence: after.join(' '), remedies: [] }
    : { ...story, sentence: after.join(' ') }
}

function tellFailed(failure: Failure): DeliveryStory {
  const { delivery } = failure
  switch (delivery.reason) {
    case 'recipient_unreachable':
      return tellUnreachable(failure)
    case 'provider_failed':
      return tellProviderFailed(failure)
    case 'no_answer':
      return tellNoAnswer(failure)
    case 'superseded':
      return tellSuperseded(failure)
    case 'no_provider':
      return tellNoProvider(failure)
    case 'insufficient_funds':
      return tellUnpaid(failure)
    default:
      return tellWithoutReason(failure)
  }
}

const FALLBACK_HINT: Remedy = {
  says: 'With the automatic fallback on, the next channel of the routing is tried by itself.',
  screen: '/routing',
}

/** The entry of a vendor's receipt; undefined where the failure was decided before a provider took the message. */
const receiptOf = ({ entries }: Failure): TimelineEntry | undefined =>
  entries.find(({ happened, provider }) => happened === 'delivery.failed' && provider)

function tellUnreachable(failure: Failure): DeliveryStory {
  const { delivery, calls, now } = failure
  const what = delivery.channel === 'email' ? 'address' : 'number'
  const receipt = receiptOf(failure)
  const clauses = callClauses(calls, now)
  if (receipt) clauses.push(`${receiptClause(receipt, calls)}${vendorWords(asVendor(receipt))}`)
  const said = clauses.length > 0 ? clauses : ['what the provider said is not recorded']
  const another = delivery.channel === 'email' ? 'another address' : 'another number'
  return {
    arrival: isUndecided(calls, receipt) ? 'unknown' : 'not arrived',
    sentence: `The ${what} cannot be reached: ${said.join('; ')}.`,
    remedies: [
      { says: `Ask for ${another}, or let the app resend on another channel.` },
      ...(failure.history.deliveries.length === 1 ? [FALLBACK_HINT] : []),
    ],
  }
}

/** Whether a call may have sent the message, and no receipt of its provider says that it failed. */
const isUndecided = (calls: readonly TimelineEntry[], receipt: TimelineEntry | undefined): boolean =>
  calls.some(call => mayHaveBeenSent(call) && call.provider !== receipt?.provider)

/** The words of a receipt are the vendor's, also where no HTTP status is with them. */
const asVendor = (entry: TimelineEntry): TimelineEntry => ({ ...entry, http_status: 200 })

const receiptClause = ({ provider, at }: TimelineEntry, calls: readonly TimelineEntry[]): string => {
  const last = calls.at(-1)
  const later =
    last && Date.parse(at) > endOfCall(last) ? `${shortDurationOfMs(Date.parse(at) - endOfCall(last))} later ` : ''
  return `${later}${last?.provider === provider ? 'it' : `the provider ${provider}`} reported a failure`
}

function tellProviderFailed(failure: Failure): DeliveryStory {
  const { calls, entries, now } = failure
  const receipt = receiptOf(failure)
  if (receipt) {
    const clauses = callClauses(calls, now)
    const words = vendorWords(asVendor(receipt)) || ', without saying why'
    return {
      arrival: isUndecided(calls, receipt) ? 'unknown' : 'not arrived',
      sentence: sentence([...clauses, `${receiptClause(receipt, calls)}${words}`]),
      remedies: [{ says: 'Look at the provider, or put another one after it.', screen: '/providers' }],
    }
  }
  if (calls.length > 0)
    return {
      arrival: isUndecided(calls, receipt) ? 'unknown' : 'not arrived',
      sentence: sentence([...callClauses(calls, now), 'no other provider took it']),
      remedies: [...statusHints(calls), { says: providerHint(calls), screen: '/providers' }],
    }
  const wereShut = entries.some(({ happened }) => happened === 'providers.exhausted')
  return {
    arrival: 'not arrived',
    sentence: wereShut
      ? 'No provider was called: all of them were paused after earlier failures, or had asked for a pause.'
      : 'No provider could send it, and no call is recorded.',
    remedies: [{ says: 'See which provider is paused, and why.', screen: '/providers' }],
  }
}

const providerHint = (calls: readonly TimelineEntry[]): string =>
  new Set(calls.map(({ provider }) => provider)).size > 1
    ? 'Check the providers of the app.'
    : 'Check the provider, or add a second one that takes over.'

/** What an HTTP status usually means. It is the vendor's, so it is not certain. */
function statusHints(calls: readonly TimelineEntry[]): Remedy[] {
  const statuses = new Set(calls.map(({ http_status }) => http_status))
  return [
    ...(statuses.has(401) || statuses.has(403)
      ? [{ says: 'HTTP 401 and 403 usually mean that the provider does not accept its credentials.' }]
      : []),
    ...(statuses.has(429) ? [{ says: 'HTTP 429 means that the provider wants fewer messages at a time.' }] : []),
  ]
}

const tellNoAnswer = ({ calls, now }: Failure): DeliveryStory => ({
  arrival: 'unknown',
  sentence: sentence([
    ...(calls.length > 0 ? callClauses(calls, now) : ['the provider gave no clear answer']),
    'it is not known whether the message went out',
  ]),
  remedies: [{ says: 'Look at the provider: it may be slow or down.', screen: '/providers' }],
})

function tellSuperseded({ history, delivery, calls, now }: Failure): DeliveryStory {
  const isOlderCode = history.generation > delivery.generation
  const ended: Partial<Record<History['status'], string>> = {
    approved: 'it was approved before',
    canceled: 'the verification was canceled before',
    expired: 'the code had expired before',
    failed: 'too many wrong codes had ended the verification before',
  }
  const why = isOlderCode
    ? 'a newer code had been made'
    : history.kind === 'message'
      ? 'its ten minutes were over'
      : (ended[history.status] ?? 'it was no longer wanted')
  const sentFor = sentence([`the message was not sent, because ${why}`])
  const undecided = calls.filter(mayHaveBeenSent)
  if (undecided.length === 0) return { arrival: 'not arrived', sentence: sentFor, remedies: [] }
  return {
    arrival: 'unknown',
    sentence: sentence([
      ...callClauses(calls, now),
      'it is not known whether the message went out',
      `it was not tried again, because ${why}`,
    ]),
    remedies: [],
  }
}

const tellNoProvider = ({ delivery }: Failure): DeliveryStory => ({
  arrival: 'not arrived',
  sentence: `The app had no usable provider for ${channelInSentence(delivery.channel)} when the message was due.`,
  remedies: [{ says: `Add a provider for ${channelInSentence(delivery.channel)}.`, screen: '/providers' }],
})

const tellUnpaid = ({ delivery }: Failure): DeliveryStory => ({
  arrival: 'not arrived',
  sentence: `The balance of the company was not enough for a message by ${channelInSentence(delivery.channel)}, so it was not sent.`,
  remedies: [{ says: 'See the balance and the prices.', screen: '/money' }],
})

function tellWithoutReason(failure: Failure): DeliveryStory {
  const { calls, now } = failure
  const receipt = receiptOf(failure)
  const clauses = callClauses(calls, now)
  if (receipt) clauses.push(`${receiptClause(receipt, calls)}${vendorWords(asVendor(receipt))}`)
  return {
    arrival: isUndecided(calls, receipt) ? 'unknown' : 'not arrived',
    sentence: sentence([...clauses, 'it failed, and the reason is not recorded']),
    remedies: [],
  }
}

/** Parts that begin in lower case, as one sentence. */
export function sentence(clauses: readonly string[]): string {
  return `${capitalized(clauses.join('; '))}.`
}
