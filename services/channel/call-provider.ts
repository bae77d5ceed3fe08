// Makes one call of one provider for one delivery. In: a provider, a rendered message, and which call of the delivery it is. Out: the
// attempt and its result; when another process has made this call before, that process's attempt.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { requestOf } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { AttemptResult, CallDetails } from '../domain/verifications/documents.ts'
import type { CallFeedback, Permit } from './admission/admission.ts'
import type { AttemptOutcome, Attempts, PastAttempt, StartedAttempt } from './attempts.ts'
import { type Candidate, isChatReply } from './candidates.ts'
import {
  type Accepted,
  DestinationFault,
  type Fault,
  type Provider,
  ProviderFault,
  RecipientFault,
  type RenderedMessage,
  UnknownOutcome,
  type VendorAnswer,
} from './provider.ts'
import { scrubVendorCode, scrubVendorText } from './vendor-scrub.ts'

export interface CallProviderDeps {
  attempts: Pick<Attempts, 'start' | 'track' | 'finish' | 'record'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'deliveryAttempts'>
  timeoutMs: number
}

export interface ProviderCall {
  candidate: Candidate
  message: RenderedMessage
  round: number
  /** 1 for the provider's first call in the round. */
  call: number
  /** Is run or released here. The sandbox is called without one. */
  permit?: Permit | undefined
}

/** `isNew` is false when the attempt was found in the store; other processes may then know of more attempts. */
export type MadeAttempt = PastAttempt & { isNew: boolean }

export type CallProvider = (call: ProviderCall) => Promise<MadeAttempt>

type PermittedCall = ProviderCall & { permit: Permit }

export function createCallProvider({ attempts, clock, log, metrics, timeoutMs }: CallProviderDeps): CallProvider {
  /** The attempt is in the store before the call, so that no process makes the same call again. */
  async function callOnce(request: PermittedCall): Promise<MadeAttempt> {
    const { candidate, message, round, call, permit } = request
    let started: StartedAttempt
    try {
      started = await attempts.start(message.job, { provider: candidate.name, round, call })
    } catch (error) {
      permit.release()
      throw error
    }
    if (!started.isNew) {
      permit.release()
      return started
    }
    const outcome = await callAndLog(request)
    await tryToSave(attempts.finish(started, outcome), message)
    return { ...started, result: outcome.result, unknownAt: clock.now() }
  }

  /** The same message twice does no harm at this provider, so one write after the call is enough. */
  async function callRepeatable(request: PermittedCall): Promise<MadeAttempt> {
    const { candidate, message, round, call } = request
    const provider = candidate.name
    const at = clock.now()
    const outcome = await callAndLog(request)
    await tryToSave(attempts.record(message.job, { provider, round, at, ...outcome }), message)
    return { provider, round, call, at, result: outcome.result, unknownAt: at, makerGone: false, isNew: true }
  }

  async function callAndLog({ candidate, message, round, call, permit }: PermittedCall): Promise<AttemptOutcome> {
    const { job } = message
    const { otp, delivery } = job
    const startedAt = clock.now()
    const outcome = await permit.run(() => callWithTimeout(candidate.provider, message, { clock, timeoutMs }))
    const { result, reference, fault } = outcome
    const ms = clock.now() - startedAt
    const details = callDetails(outcome.answer, ms, message)
    const { http_status, vendor_code } = details
    const { delivery_id, channel } = delivery
    metrics.deliveryAttempts.observe({ channel, provider: candidate.type, outcome: result }, ms / 1000)
    const { otp_id, app_id } = otp
    const fields = { ...requestOf(job), otp_id, app_id, delivery_id, channel, provider: candidate.name, round, call }
    const err = fault ? { err: fault } : {}
    log.info({ ...fields, outcome: result, ms, http_status, vendor_code, ...err }, 'delivery.attempted')
    return { result, reference, details }
  }

  /** This process knows the result even when the store is away. Another process that finds the attempt without a result takes its outcome
   *  for unknown. */
  async function tryToSave(saving: Promise<void>, { job }: RenderedMessage): Promise<void> {
    try {
      await saving
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const { otp, delivery } = job
      const fields = { ...requestOf(job), otp_id: otp.otp_id, delivery_id: delivery.delivery_id }
      log.warn({ ...fields, err: error }, 'attempt.not_recorded')
    }
  }

  return ({ permit = UNLIMITED, ...request }) =>
    request.candidate.provider.repeatable
      ? callRepeatable({ ...request, permit })
      : attempts.track(request.message.job, () => callOnce({ ...request, permit }))
}

const UNLIMITED: Permit = { run: call => call(), release: () => {} }

interface CallOutcome extends CallFeedback {
  result: AttemptResult
  reference: string | null
  answer: VendorAnswer
  fault?: Error
}

/** What the store keeps of an answer. The message knows what must not be in it. */
function callDetails(answer: VendorAnswer, ms: number, { recipient, code }: RenderedMessage): CallDetails {
  const personal = { recipient, code }
  const vendorCode = scrubVendorCode(answer.vendorCode, personal)
  const vendorText = scrubVendorText(answer.vendorText, personal)
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

async function callWithTimeout(
  provider: Provider,
  message: RenderedMessage,
  { clock, timeoutMs }: Pick<CallProviderDeps, 'clock' | 'timeoutMs'>,
): Promise<CallOutcome> {
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
    const { reference, httpStatus = null } = await Promise.race([
      sendOrReply(provider, message, controller.signal),
      timeout,
    ])
    const answer = { httpStatus, vendorCode: null, vendorText: null }
    return { result: 'accepted', reference, answer, retryAfterMs: null }
  } catch (error) {
    return outcomeOf(error, controller.signal)
  } finally {
    cancelTimeout()
  }
}

/** Throws what is neither a fault nor the result of a timeout: a bug. */
function outcomeOf(error: unknown, { aborted }: AbortSignal): CallOutcome {
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

/** A user who wrote to us on WhatsApp gets a reply in the chat instead of a template message. */
const sendOrReply = (provider: Provider, message: RenderedMessage, signal: AbortSignal): Promise<Accepted> =>
  provider.reply && isChatReply(message.job)
    ? provider.reply(message.recipient, message.text, signal, message.job.delivery.delivery_id)
    : provider.send(message, signal)
