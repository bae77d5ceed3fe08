// Passes a vendor's callback on to the OTP actor. In: callback items whose signature was checked, and the provider they came for. Out:
// reports on the durable queue. A report's id is made from its content, so a repeated callback changes nothing, in any order.
//
// A receipt counts only for deliveries that this app gave to this provider: the attempt says so. It is saved before the provider is called,
// so it is there when the receipt comes. The attempt at a `repeatable` provider is saved after the call, and a receipt that comes sooner
// changes nothing; today only the sandbox is repeatable, and no vendor calls back for it.
//
// A receipt settles a call whose outcome is unknown. Its failure is then that of the call alone while the channel still
// has the message, which goes to the next provider (../next-step.ts). Any other receipt of failure ends the delivery.

import { createHash } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { getOne } from '../../../infra/store/one-doc.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { Tracing } from '../../../infra/tracing/tracing.ts'
import type { Channel } from '../../../machines/channels.ts'
import { isOptOutChannel, type OptOut, type OptOutChannel, optOutIn } from '../../../machines/opt-out.ts'
import type { FailureReason, ReportDetails, ReportedStatus } from '../../../machines/otp.ts'
import { type SecretPattern, scrubAnswerText, scrubVendorCode } from '../../domain/privacy/answer-scrub.ts'
import type { ProviderType } from '../../domain/tenancy/provider-types/list.ts'
import {
  type AttemptDoc,
  type AttemptResult,
  END_OF_ROUND,
  findAttempts,
  type OtpDoc,
} from '../../domain/verifications/documents.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { referenceIndexes } from '../../domain/verifications/lookup-indexes.ts'
import type { OtpReport } from '../../domain/verifications/queue-messages.ts'
import { referencesIn } from '../../domain/verifications/whatsapp-references.ts'
import type { CallbackItem } from '../provider.ts'
import { attemptId, storedReference } from '../provider-attempts.ts'

export interface CallbackSource {
  app_id: string
  /** The name that the app gave the provider. */
  provider: string
  type: ProviderType
  channel: Channel
  secrets: SecretPattern
  /** The trace of the vendor's request: a callback begins a thread of its own. */
  trace: Trace
}

/** Resolves once the broker has confirmed all reports. */
export type HandleCallback = (source: CallbackSource, items: readonly CallbackItem[]) => Promise<void>

export interface HandleCallbackDeps {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'find' | 'modify'>
  otps: Pick<Docs<OtpDoc>, 'get'>
  broker: Pick<Broker, 'publish'>
  keyring: Pick<Keyring, 'seal' | 'indexes'>
  clock: Pick<Clock, 'now'>
  log: Logger
  metrics: Pick<Metrics, 'callbacks'>
  /** Null where no spans are recorded. */
  tracing?: Pick<Tracing, 'current'> | null
  /** How many rounds a delivery can have. */
  rounds: number
}

type Receipt = Extract<CallbackItem, { kind: 'receipt' }>
type Message = Extract<CallbackItem, { kind: 'message' }>
type Contact = Extract<CallbackItem, { kind: 'contact' }>

/** Longer than the id that any vendor gives a message. */
const MAX_ID_LENGTH = 512
const BATCH_SIZE = 64

/** Reasons that no other provider would change: the delivery fails. */
const FINAL_REASONS: ReadonlySet<FailureReason> = new Set(['recipient_unreachable', 'superseded'])

/** The results that a receipt replaces. An attempt without a result is under way, or its result was not saved: the
 *  vendor may have accepted the message, so a failure of it is that of the delivery. Receipts come out of order, so
 *  `sent` does not undo a failure. */
const REPLACED_RESULTS: Readonly<Record<ReportedStatus, readonly AttemptDoc['result'][]>> = {
  sent: [null, 'unknown'],
  delivered: [null, 'unknown', 'failed', 'refused'],
  failed: ['unknown'],
}

export function createHandleCallback({
  attempts,
  otps,
  broker,
  keyring,
  clock,
  log,
  metrics,
  tracing = null,
  rounds,
}: HandleCallbackDeps): HandleCallback {
  const allRounds = Array.from({ length: rounds }, (_, nth) => nth + 1)
  const logOutcome = (
    { app_id, provider, type, trace }: CallbackSource,
    kind: CallbackItem['kind'],
    outcome: string,
    fields: object = {},
  ): void => {
    metrics.callbacks.inc({ provider: type, kind, outcome })
    const { request_id } = trace
    const level = outcome === 'passed_on' ? 'debug' : 'info'
    log[level]({ request_id, app_id, provider, kind, outcome, ...fields }, 'callback.handled')
  }

  /** A provider's further calls in a round are not asked for: where there is one, there is the first of that round too. */
  async function findAttempt({ app_id, provider }: CallbackSource, receipt: Receipt): Promise<AttemptDoc | undefined> {
    const { delivery_id } = receipt
    if (delivery_id !== null && delivery_id.length <= MAX_ID_LENGTH) {
      const found = await attempts.get(allRounds.map(round => attemptId(delivery_id, provider, round)))
      const ownAttempts = [...found.values()].filter(
        attempt => attempt.app_id === app_id && attempt.provider === provider,
      )
      if (ownAttempts.length > 0)
        return ownAttempts.reduce((latest, attempt) => (attempt.round > latest.round ? attempt : latest))
    }
    const reference = referenceIn(receipt)
    if (reference === null) return undefined
    return (await attempts.find({ app_id, provider, reference }, { sort: { reference: 1 }, limit: 1 }))[0]
  }

  /** Why a receipt is not passed on; null where it is. */
  async function reasonToKeep(source: CallbackSource, receipt: Receipt, attempt: AttemptDoc): Promise<string | null> {
    const { status } = receipt
    if (status !== 'failed' && attempt.result === 'accepted') return null
    const all = await findAttempts(attempts, attempt.delivery_id)
    const call = callOf(receipt, all.filter(({ provider }) => provider === source.provider).sort(byCall))
    if (status !== 'failed') {
      const settled = call && (await settle(source, receipt, call, 'accepted'))
      return settled?.result === 'failed' || settled?.result === 'refused' ? 'settled' : null
    }
    if (!call) return 'superseded'
    const { reason = 'provider_failed' } = receiptDetails(source, receipt, attempt.otp_id)
    const result = reason === 'recipient_unreachable' ? 'refused' : 'failed'
    if (isSuperseded(call, all)) {
      await settle(source, receipt, call, result)
      return 'superseded'
    }
    if (!FINAL_REASONS.has(reason) && !(await isQueued(attempt))) return null
    const settled = reason === 'superseded' ? call : await settle(source, receipt, call, result)
    return settled?.result === 'failed' ? 'settled' : null
  }

  /** Whether the channel still has the message. With certainty, because a failure is not reported where it has. */
  async function isQueued({ otp_id, delivery_id }: AttemptDoc): Promise<boolean> {
    const otp = await getOne(otps, otp_id, { certain: true })
    return otp?.context.deliveries.find(delivery => delivery.delivery_id === delivery_id)?.status === 'queued'
  }

  /** The call as it is after the receipt. Its result is stored before the report is published: should the channel look before the report is
   *  handled, or another receipt come, the result tells what became of the call. */
  async function settle(
    source: CallbackSource,
    receipt: Receipt,
    call: AttemptDoc,
    result: AttemptResult,
  ): Promise<AttemptDoc | undefined> {
    const replaced = REPLACED_RESULTS[receipt.status]
    if (!replaced.includes(call.result)) return call
    const { _id, otp_id } = call
    const reference = referenceIn(receipt)
    const { vendor_code, vendor_text } = receiptDetails(source, receipt, otp_id)
    const settled = await attempts.modify(
      { _id, result: { $in: replaced } },
      {
        $set: {
          result,
          ...(reference === null ? {} : { reference }),
          ...(vendor_code === undefined ? {} : { vendor_code }),
          ...(vendor_text === undefined ? {} : { vendor_text }),
        },
        // The words stored for the missing answer are not the receipt's.
        $unset: {
          unknown_at: true,
          ...(vendor_code === undefined ? { vendor_code: true } : {}),
          ...(vendor_text === undefined ? { vendor_text: true } : {}),
        },
      },
    )
    // Another receipt, or the answer to the call, came first.
    return settled ?? (await getOne(attempts, _id))
  }

  async function handleReceipt(source: CallbackSource, receipt: Receipt): Promise<void> {
    const attempt = await findAttempt(source, receipt)
    // The response is 2xx nevertheless: after an error, vendors repeat a callback for days.
    if (!attempt) return logOutcome(source, 'receipt', 'unknown')
    const { otp_id, delivery_id } = attempt
    const { status } = receipt
    const fields = { otp_id, delivery_id, status }
    const kept = await reasonToKeep(source, receipt, attempt)
    if (kept !== null) return logOutcome(source, 'receipt', kept, fields)
    const details = {
      ...receiptDetails(source, receipt, otp_id),
      // The receipt may come before the report that the message was sent.
      ...(attempt.because === undefined ? {} : { because: attempt.because }),
    }
    const unsubscribed = receipt.failure?.unsubscribed ? source.provider : undefined
    const report: OtpReport = {
      type: 'delivery.reported',
      otp_id,
      delivery_id,
      status,
      ...details,
      ...(unsubscribed !== undefined && { unsubscribed }),
      at: clock.now(),
    }
    const id = `${delivery_id}@${source.provider}:${status}`
    await broker.publish('otp.reports', { id, body: report, trace: traceOfReceipt(source, attempt) })
    logOutcome(source, 'receipt', 'passed_on', fields)
  }

  /** Where spans are recorded, a receipt goes on in the trace of its message, and the vendor's request is linked to that. */
  function traceOfReceipt({ trace }: CallbackSource, attempt: AttemptDoc): Trace {
    if (!attempt.trace) return trace
    tracing?.current()?.link(attempt.trace)
    return { ...attempt.trace, request_id: trace.request_id }
  }

  async function handleMessage(source: CallbackSource, message: Message): Promise<void> {
    const { id, from, user_id, text } = message
    const { app_id, provider, channel, trace } = source
    const asked = message.optOut ?? optOutIn(text)
    if (asked !== null && isOptOutChannel(channel)) return handleOptOut(source, channel, message, asked)
    // A sender of text messages is easy to forge: what approves comes by WhatsApp alone.
    if (channel !== 'whatsapp') return logOutcome(source, 'message', 'without_reference')
    const references = referencesIn(text).flatMap(reference => referenceIndexes(keyring, reference))
    if (references.length === 0) return logOutcome(source, 'message', 'without_reference')
    const sealed_from = keyring.seal(from, inFlight.from)
    const report: OtpReport = {
      type: 'message.received',
      app_id,
      mode: 'live',
      sealed_from,
      ...(user_id === null ? {} : { sealed_user_id: keyring.seal(user_id, inFlight.userId) }),
      references,
      at: clock.now(),
    }
    await broker.publish('otp.reports', { id: messageId(app_id, provider, id), body: report, trace })
    logOutcome(source, 'message', 'passed_on')
  }

  /** A message that stops or starts does nothing else. */
  async function handleOptOut(
    source: CallbackSource,
    channel: OptOutChannel,
    { id, from }: Message,
    asked: OptOut,
  ): Promise<void> {
    const { app_id, provider, trace } = source
    // WhatsApp hides the numbers of some users. Which recipient such a user is, is not known.
    if (from === '') return logOutcome(source, 'message', 'without_number')
    const report: OtpReport = {
      type: 'opt_out.received',
      app_id,
      mode: 'live',
      channel,
      provider,
      sealed_from: keyring.seal(from, inFlight.from),
      asked,
      at: clock.now(),
    }
    await broker.publish('otp.reports', { id: messageId(app_id, provider, id), body: report, trace })
    logOutcome(source, 'message', asked)
  }

  async function handleContact(source: CallbackSource, { id, from, user_id }: Contact): Promise<void> {
    const { app_id, provider, trace } = source
    const report: OtpReport = {
      type: 'contact.received',
      app_id,
      mode: 'live',
      sealed_from: keyring.seal(from, inFlight.from),
      sealed_user_id: keyring.seal(user_id, inFlight.userId),
      at: clock.now(),
    }
    await broker.publish('otp.reports', { id: messageId(app_id, provider, id), body: report, trace })
    logOutcome(source, 'contact', 'passed_on')
  }

  function handleItem(source: CallbackSource, item: CallbackItem): Promise<void> {
    if (item.kind === 'receipt') return handleReceipt(source, item)
    return item.kind === 'message' ? handleMessage(source, item) : handleContact(source, item)
  }

  return async (source, items) => {
    // A callback may hold many items. Batches keep it from taking all of the store's and the broker's capacity.
    for (let first = 0; first < items.length; first += BATCH_SIZE)
      await Promise.all(items.slice(first, first + BATCH_SIZE).map(item => handleItem(source, item)))
  }
}

/** A receipt does not say who the recipient is, so the general rules must hide it in the vendor's words. They know
 *  codes of digits alone, so of a message, whose code may have letters, the words are left out. */
function receiptDetails(
  { provider, secrets }: CallbackSource,
  { status, failure }: Receipt,
  otp_id: string,
): ReportDetails {
  if (status !== 'failed') return { provider }
  if (isId('msg', otp_id)) return { provider, reason: failure?.reason ?? 'provider_failed' }
  const vendor_code = scrubVendorCode(failure?.vendorCode ?? null, null, secrets)
  const vendor_text = scrubAnswerText(failure?.vendorText ?? null, null, secrets)
  return {
    provider,
    reason: failure?.reason ?? 'provider_failed',
    ...(vendor_code === null ? {} : { vendor_code }),
    ...(vendor_text === null ? {} : { vendor_text }),
  }
}

const referenceIn = ({ reference }: Receipt): string | null =>
  reference && reference.length <= MAX_ID_LENGTH ? storedReference(reference) : null

/** The message was sent again since. Then a receipt of this call still counts when the message arrived, but not when it failed. */
const isSuperseded = (reported: AttemptDoc, all: readonly AttemptDoc[]): boolean =>
  all.some(
    other =>
      other.provider !== END_OF_ROUND &&
      other.result !== 'failed' &&
      (other.provider === reported.provider ? byCall(other, reported) > 0 : other.at >= reported.at),
  )

const byCall = (one: AttemptDoc, other: AttemptDoc): number =>
  one.round - other.round || (one.call ?? 1) - (other.call ?? 1)

/** The call of the receipt; undefined when it is that of another call: the vendor's answer to one call may name several
 *  messages. A vendor's id that we do not know is that of a call whose answer we do not know. */
function callOf(receipt: Receipt, calls: readonly AttemptDoc[]): AttemptDoc | undefined {
  const reference = referenceIn(receipt)
  if (reference === null) return calls.at(-1)
  const nameless = calls.filter(call => call.reference === null)
  return (
    calls.find(call => call.reference === reference) ??
    nameless.findLast(({ result }) => result === null || result === 'unknown') ??
    nameless.at(-1)
  )
}

/** Hashed, because a vendor's id may be long and may contain the sender's number. */
const messageId = (app_id: string, provider: string, id: string): string =>
  `message:${createHash('sha256').update(`${app_id}:${provider}:${id}`).digest('hex')}`
