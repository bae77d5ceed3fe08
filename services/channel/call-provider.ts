// Makes one call of one provider for one delivery. In: a provider, a rendered message, and which call of the delivery it is. Out: the
// attempt and its result; when another process has made this call before, that process's attempt. After the timeout the outcome is unknown.
//
// Whether a message that its verification no longer wants is paid for is decided by two writes, each followed by a look
// at the other: the attempt is stored, then it is asked whether the message is still wanted; an erasure or a cancel is
// stored, then the attempts are read (../dashboard/privacy/erase-recipient.ts, and takeSteps in deliver.ts). The
// second of the two writes sees the first. So no provider gets a message that is given back because none had got it.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { requestOf } from '../../infra/trace.ts'
import { inSpan, type Tracing } from '../../infra/tracing/tracing.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { carriesCode } from '../../machines/otp.queries.ts'
import type { RouteReason } from '../../machines/otp.ts'
import { type Personal, type SecretPattern, scrubAnswerText, scrubVendorCode } from '../domain/privacy/answer-scrub.ts'
import type { AttemptResult, VendorDetails } from '../domain/verifications/documents.ts'
import type { Permit, ProviderFeedback } from './admission/provider-gates.ts'
import { type Candidate, isChatReply } from './candidates.ts'
import {
  type Accepted,
  type DeliveryJob,
  type DeliveryMessage,
  DestinationFault,
  type Fault,
  type Provider,
  ProviderFault,
  RecipientFault,
  UnknownOutcome,
  UnsubscribedFault,
  type VendorAnswer,
} from './provider.ts'
import type { AttemptOutcome, PastAttempt, ProviderAttempts, StartedAttempt } from './provider-attempts.ts'

export interface CallProviderDeps {
  attempts: Pick<ProviderAttempts, 'start' | 'track' | 'finish' | 'withdraw' | 'record'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'attemptDuration' | 'deliveryAttempts'>
  /** Null where no spans are recorded. */
  tracing?: Tracing | null
  timeoutMs: number
}

export interface ProviderCall {
  candidate: Candidate
  message: DeliveryMessage
  round: number
  /** 1 for the provider's first call in the round. */
  call: number
  /** Why this provider is the first that is called for the delivery, if it is and there is a reason to store. */
  because?: RouteReason | undefined
  /** Is run or released here. The sandbox is called without one. */
  permit?: Permit | undefined
  /** Asked once the attempt is stored. */
  isWanted(): Promise<boolean>
}

/** `isNew` is false when the attempt was found in the store; other processes may then know of more attempts. */
export type MadeAttempt = PastAttempt & { isNew: boolean }

/** Null where the message was no longer wanted: then its provider was not called. */
export type CallProvider = (call: ProviderCall) => Promise<MadeAttempt | null>

export function createCallProvider({
  attempts,
  clock,
  log,
  metrics,
  tracing = null,
  timeoutMs,
}: CallProviderDeps): CallProvider {
  /** The attempt is in the store before the call, so that no process makes the same call again. */
  async function callOnce(request: ProviderCall): Promise<MadeAttempt | null> {
    const { message, permit } = request
    const started = await startIfWanted(request).catch(error => {
      permit?.release()
      throw error
    })
    if (!started?.isNew) {
      permit?.release()
      return started
    }
    const outcome = await callAndLog(request)
    await tryToSave(attempts.finish(started, outcome), message)
    return { ...started, result: outcome.result, unknownAt: clock.now(), unsubscribed: outcome.unsubscribed }
  }

  async function startIfWanted(request: ProviderCall): Promise<StartedAttempt | null> {
    const { candidate, message, round, call, because, isWanted } = request
    const started = await attempts.start(message.job, { provider: candidate.name, round, call, because })
    if (!started.isNew) return started
    try {
      if (await isWanted()) return started
    } catch (error) {
      // The next try makes the same attempt. If it cannot be removed, it stands for a call that may have been made.
      await attempts.withdraw(started).catch(() => {})
      throw error
    }
    await attempts.withdraw(started)
    return null
  }

  /** The same message twice does no harm at this provider, so one write after the call is enough. */
  async function callRepeatable(request: ProviderCall): Promise<MadeAttempt> {
    const { candidate, message, round, call, because } = request
    const provider = candidate.name
    const at = clock.now()
    const outcome = await callAndLog(request)
    await tryToSave(attempts.record(message.job, { provider, round, because, at, ...outcome }), message)
    const { result } = outcome
    return { provider, round, call, because, at, result, unknownAt: at, makerGone: false, isNew: true }
  }

  async function callAndLog({ candidate, message, round, call, permit }: ProviderCall): Promise<AttemptOutcome> {
    const { job } = message
    const { otp_id, app_id } = job.otp
    const { delivery_id, channel } = job.delivery
    const startedAt = clock.now()
    const callVendor = () =>
      traceCall(tracing, candidate, job, () =>
        callWithTimeout(signal => sendOrReply(candidate.provider, message, signal), { clock, timeoutMs }),
      )
    const { result, reference, answer, fault } = await (permit ? permit.run(callVendor) : callVendor())
    const ms = clock.now() - startedAt
    const details = callDetails(answer, ms, message, candidate.secrets)
    const measured = { channel, provider: candidate.type }
    metrics.attemptDuration.observe(measured, ms / 1000)
    metrics.deliveryAttempts.inc({ ...measured, outcome: result })
    const fields = {
      request_id: job.trace?.request_id,
      otp_id,
      app_id,
      delivery_id,
      channel,
      provider: candidate.name,
      round,
      call,
      outcome: result,
      ms,
      http_status: details.http_status,
      vendor_code: details.vendor_code,
    }
    log.info(fault ? { ...fields, err: fault } : fields, 'delivery.attempted')
    return { result, reference, details, ...(fault instanceof UnsubscribedFault && { unsubscribed: true }) }
  }

  /** This process knows the result even when the store is away. Another process that finds the attempt without a result takes its outcome
   *  for unknown. */
  async function tryToSave(saving: Promise<void>, { job }: DeliveryMessage): Promise<void> {
    try {
      await saving
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const { otp, delivery } = job
      const fields = { ...requestOf(job), otp_id: otp.otp_id, delivery_id: delivery.delivery_id }
      log.warn({ ...fields, err: error }, 'attempt.not_recorded')
    }
  }

  return request =>
    request.candidate.provider.repeatable
      ? callRepeatable(request)
      : attempts.track(request.message.job, () => callOnce(request))
}

function traceCall<R extends Pick<AttemptOutcome, 'result'>>(
  tracing: Tracing | null,
  { type }: Candidate,
  { trace, delivery }: DeliveryJob,
  callVendor: () => Promise<R>,
): Promise<R> {
  if (tracing === null || !trace?.traceparent) return callVendor()
  const attributes = { 'countersign.channel': delivery.channel, 'countersign.provider': type }
  return inSpan(tracing, `send by ${type}`, { kind: 'client', parent: trace, attributes }, async span => {
    const outcome = await callVendor()
    span.set({ 'countersign.outcome': outcome.result })
    return outcome
  })
}

/** A user who wrote to us on WhatsApp gets a reply in the chat instead of a template message. */
async function sendOrReply(provider: Provider, message: DeliveryMessage, signal: AbortSignal): Promise<Accepted> {
  const { job } = message
  if (!carriesCode(job.delivery)) {
    if (!provider.askForContact) throw new ProviderFault('it cannot ask a user for their number')
    return provider.askForContact(message, signal)
  }
  return provider.reply && isChatReply(job) ? provider.reply(message, signal) : provider.send(message, signal)
}

export interface ProviderOutcome extends ProviderFeedback {
  result: AttemptResult
  reference: string | null
  answer: VendorAnswer
  fault?: Error
}

/** What is kept and shown of an answer, without the recipient, the code and the secrets of the provider's config. */
export function callDetails(
  answer: VendorAnswer,
  ms: number,
  { recipient, code }: Personal,
  secrets: SecretPattern,
): VendorDetails {
  const personal = { recipient, code }
  const vendorCode = scrubVendorCode(answer.vendorCode, personal, secrets)
  const vendorText = scrubAnswerText(answer.vendorText, personal, secrets)
  return {
    ms,
    ...(answer.httpStatus === null ? {} : { http_status: answer.httpStatus }),
    ...(vendorCode === null ? {} : { vendor_code: vendorCode }),
    ...(vendorText === null ? {} : { vendor_text: vendorText }),
  }
}

/** Where no vendor answered, the text is our own: what kept us from getting an answer. */
const noAnswer = (vendorText: string): VendorAnswer => ({ httpStatus: null, vendorCode: null, vendorText })
const answerTo = (fault: Fault): VendorAnswer => fault.answer ?? noAnswer(fault.message)

export async function callWithTimeout(
  call: (signal: AbortSignal) => Promise<Accepted>,
  { clock, timeoutMs }: { clock: Clock; timeoutMs: number },
): Promise<ProviderOutcome> {
  const controller = new AbortController()
  let cancelTimeout = (): void => {}
  // The timeout also rejects by itself, because a provider may ignore the abort signal.
  const timeout = new Promise<never>((_, reject) => {
    cancelTimeout = clock.after(timeoutMs, () => {
      controller.abort()
      reject(controller.signal.reason)
    })
  })
  try {
    const { reference, httpStatus = null } = await Promise.race([call(controller.signal), timeout])
    const answer = { httpStatus, vendorCode: null, vendorText: null }
    return { result: 'accepted', reference, answer, retryAfterMs: null }
  } catch (error) {
    return outcomeOfFault(error, controller.signal)
  } finally {
    cancelTimeout()
  }
}

/** Throws what is neither a fault nor the result of a timeout: a bug. */
function outcomeOfFault(error: unknown, { aborted }: AbortSignal): ProviderOutcome {
  const defaults = { reference: null, retryAfterMs: null }
  if (error instanceof RecipientFault) return { ...defaults, result: 'refused', fault: error, answer: answerTo(error) }
  if (error instanceof ProviderFault)
    return {
      ...defaults,
      result: 'failed',
      fault: error,
      answer: answerTo(error),
      retryAfterMs: error.retryAfterMs,
      ignoredByBreaker: error instanceof DestinationFault,
    }
  if (error instanceof UnknownOutcome) return { ...defaults, result: 'unknown', fault: error, answer: answerTo(error) }
  if (aborted) return { ...defaults, result: 'unknown', answer: noAnswer('it did not answer in time') }
  throw error
}
