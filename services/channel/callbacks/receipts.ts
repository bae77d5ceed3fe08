// Passes a vendor's callback on to the OTP actor. In: callback items whose signature was checked, and the provider they came for. Out:
// reports on the durable queue. A report's id is made from its content, so a repeated callback changes nothing, in any order.
//
// A receipt counts only for deliveries that this app gave to this provider: the attempt says so. It is saved before the provider is called,
// so it is there when the receipt comes. The attempt at a `repeatable` provider is saved after the call, and a receipt that comes sooner
// changes nothing; today only the sandbox is repeatable, and no vendor calls back for it.

import { createHash } from 'node:crypto'
import type { Broker } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { isId } from '../../../infra/ids.ts'
import type { Logger } from '../../../infra/log/log.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { Trace } from '../../../infra/trace.ts'
import type { Tracing } from '../../../infra/tracing/tracing.ts'
import type { ReportDetails } from '../../../machines/otp.ts'
import type { ProviderType } from '../../domain/tenancy/provider-types/list.ts'
import { type AttemptDoc, END_OF_ROUND, findAttempts } from '../../domain/verifications/documents.ts'
import { inFlight } from '../../domain/verifications/encryption-context.ts'
import { referenceIndexes } from '../../domain/verifications/lookup-indexes.ts'
import type { OtpReport } from '../../domain/verifications/queue-messages.ts'
import { referencesIn } from '../../domain/verifications/whatsapp-references.ts'
import type { CallbackItem } from '../provider.ts'
import { attemptId, storedReference } from '../provider-attempts.ts'
import { type SecretPattern, scrubVendorCode, scrubVendorText } from '../vendor-scrub.ts'

export interface CallbackSource {
  app_id: string
  /** The name that the app gave the provider. */
  provider: string
  type: ProviderType
  secrets: SecretPattern
  /** Of the vendor's request: a callback begins a thread of its own. */
  trace: Trace
}

/** Resolves once the broker has confirmed all reports. */
export type HandleCallback = (source: CallbackSource, items: readonly CallbackItem[]) => Promise<void>

export interface HandleCallbackDeps {
  attempts: Pick<Docs<AttemptDoc>, 'get' | 'find'>
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

/** Longer than the id that any vendor gives a message. */
const MAX_ID_LENGTH = 512
const BATCH_SIZE = 64

export function createHandleCallback({
  attempts,
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
    const { delivery_id, reference: vendorReference } = receipt
    if (delivery_id !== null && delivery_id.length <= MAX_ID_LENGTH) {
      const found = await attempts.get(allRounds.map(round => attemptId(delivery_id, provider, round)))
      const ownAttempts = [...found.values()].filter(
        attempt => attempt.app_id === app_id && attempt.provider === provider,
      )
      if (ownAttempts.length > 0)
        return ownAttempts.reduce((latest, attempt) => (attempt.round > latest.round ? attempt : latest))
    }
    if (!vendorReference || vendorReference.length > MAX_ID_LENGTH) return undefined
    const reference = storedReference(vendorReference)
    return (await attempts.find({ app_id, provider, reference }, { sort: { reference: 1 }, limit: 1 }))[0]
  }

  /** The message was sent again since, or by another call than the receipt's: the vendor's answer to one call may name several messages.
   *  A receipt of another message still counts when it arrived, but not when it failed. */
  async function isSuperseded(found: AttemptDoc, { reference }: Receipt): Promise<boolean> {
    const { delivery_id, provider } = found
    const all = await findAttempts(attempts, delivery_id)
    const ofProvider = all.filter(attempt => attempt.provider === provider).sort(byCall)
    const reported = reference ? findByReference(ofProvider, storedReference(reference)) : (ofProvider.at(-1) ?? found)
    if (!reported) return true
    return all.some(
      other =>
        other.provider !== END_OF_ROUND &&
        other.result !== 'failed' &&
        (other.provider === provider ? byCall(other, reported) > 0 : other.at >= reported.at),
    )
  }

  async function handleReceipt(source: CallbackSource, receipt: Receipt): Promise<void> {
    const attempt = await findAttempt(source, receipt)
    // The response is 2xx nevertheless: after an error, vendors repeat a callback for days.
    if (!attempt) return logOutcome(source, 'receipt', 'unknown')
    const { otp_id, delivery_id } = attempt
    const { status } = receipt
    const fields = { otp_id, delivery_id, status }
    if (status === 'failed' && (await isSuperseded(attempt, receipt)))
      return logOutcome(source, 'receipt', 'superseded', fields)
    const details = {
      ...receiptDetails(source, receipt, otp_id),
      // The receipt may come before the report that the message was sent.
      ...(attempt.because === undefined ? {} : { because: attempt.because }),
    }
    const report: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, ...details, at: clock.now() }
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

  async function handleMessage(source: CallbackSource, { id, from, text }: Message): Promise<void> {
    const { app_id, provider, trace } = source
    const references = referencesIn(text).flatMap(reference => referenceIndexes(keyring, reference))
    if (references.length === 0) return logOutcome(source, 'message', 'without_reference')
    const sealed_from = keyring.seal(from, inFlight.from)
    const report: OtpReport = {
      type: 'message.received',
      app_id,
      mode: 'live',
      sealed_from,
      references,
      at: clock.now(),
    }
    await broker.publish('otp.reports', { id: messageId(app_id, provider, id), body: report, trace })
    logOutcome(source, 'message', 'passed_on')
  }

  return async (source, items) => {
    // A callback may hold many items. Batches keep it from taking all of the store's and the broker's capacity.
    for (let first = 0; first < items.length; first += BATCH_SIZE)
      await Promise.all(
        items
          .slice(first, first + BATCH_SIZE)
          .map(item => (item.kind === 'receipt' ? handleReceipt(source, item) : handleMessage(source, item))),
      )
  }
}

/** A receipt does not say who the recipient is, so the general rules must hide it in the vendor's words. They know codes of digits alone, so
 *  of a message, whose code may have letters, the words are left out. */
function receiptDetails(
  { provider, secrets }: CallbackSource,
  { status, failure }: Receipt,
  otp_id: string,
): ReportDetails {
  if (status !== 'failed') return { provider }
  if (isId('msg', otp_id)) return { provider, reason: failure?.reason ?? 'provider_failed' }
  const vendor_code = scrubVendorCode(failure?.vendorCode ?? null, null, secrets)
  const vendor_text = scrubVendorText(failure?.vendorText ?? null, null, secrets)
  return {
    provider,
    reason: failure?.reason ?? 'provider_failed',
    ...(vendor_code === null ? {} : { vendor_code }),
    ...(vendor_text === null ? {} : { vendor_text }),
  }
}

const byCall = (one: AttemptDoc, other: AttemptDoc): number =>
  one.round - other.round || (one.call ?? 1) - (other.call ?? 1)

/** The call whose message has this id. A vendor's id that we do not know is that of a call whose answer we do not know. */
const findByReference = (attempts: readonly AttemptDoc[], reference: string): AttemptDoc | undefined =>
  attempts.find(attempt => attempt.reference === reference) ?? attempts.findLast(attempt => attempt.reference === null)

/** Hashed, because a vendor's id may be long and may contain the sender's number. */
const messageId = (app_id: string, provider: string, id: string): string =>
  `message:${createHash('sha256').update(`${app_id}:${provider}:${id}`).digest('hex')}`
