// Makes one call of one provider for one delivery. In: a provider, a rendered message, and which call of the delivery it is. Out: the
// attempt and its result; when another process has made this call before, that process's attempt.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { AttemptResult } from '../domain/verifications/documents.ts'
import type { CallFeedback, Permit } from './admission/admission.ts'
import type { Attempts, PastAttempt, StartedAttempt } from './attempts.ts'
import { type Candidate, isChatReply } from './candidates.ts'
import {
  type Accepted,
  DestinationFault,
  type Provider,
  ProviderFault,
  RecipientFault,
  type RenderedMessage,
  UnknownOutcome,
} from './provider.ts'

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
    const { result, reference } = await callAndLog(request)
    await tryToSave(attempts.record(message.job, { provider, round, at, result, reference }), message)
    return { provider, round, call, at, result, unknownAt: at, makerGone: false, isNew: true }
  }

  async function callAndLog({ candidate, message, round, call, permit }: PermittedCall): Promise<CallOutcome> {
    const { otp, delivery } = message.job
    const startedAt = clock.now()
    const outcome = await permit.run(() => callWithTimeout(candidate.provider, message, { clock, timeoutMs }))
    const { result, fault } = outcome
    const ms = clock.now() - startedAt
    const { delivery_id, channel } = delivery
    metrics.deliveryAttempts.observe({ channel, provider: candidate.type, outcome: result }, ms / 1000)
    const fields = { otp_id: otp.otp_id, delivery_id, channel, provider: candidate.name, round, call }
    log.info({ ...fields, outcome: result, ms, ...(fault ? { err: fault } : {}) }, 'delivery.attempted')
    return outcome
  }

  /** This process knows the result even when the store is away. Another process that finds the attempt without a result takes its outcome
   *  for unknown. */
  async function tryToSave(saving: Promise<void>, { job }: RenderedMessage): Promise<void> {
    try {
      await saving
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, delivery_id: job.delivery.delivery_id }, 'attempt.not_recorded')
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
  fault?: Error
}

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
    const { reference } = await Promise.race([sendOrReply(provider, message, controller.signal), timeout])
    return { result: 'accepted', reference, retryAfterMs: null }
  } catch (error) {
    return outcomeOf(error, controller.signal)
  } finally {
    cancelTimeout()
  }
}

/** Throws what is neither a fault nor the result of a timeout: a bug. */
function outcomeOf(error: unknown, { aborted }: AbortSignal): CallOutcome {
  const defaults = { reference: null, retryAfterMs: null }
  if (error instanceof RecipientFault) return { ...defaults, result: 'refused', fault: error }
  if (error instanceof ProviderFault)
    return {
      ...defaults,
      result: 'failed',
      fault: error,
      retryAfterMs: error.retryAfterMs,
      ignoredByBreaker: error instanceof DestinationFault,
    }
  if (error instanceof UnknownOutcome) return { ...defaults, result: 'unknown', fault: error }
  if (aborted) return { ...defaults, result: 'unknown' }
  throw error
}

/** A user who wrote to us on WhatsApp gets a reply in the chat instead of a template message. */
const sendOrReply = (provider: Provider, message: RenderedMessage, signal: AbortSignal): Promise<Accepted> =>
  provider.reply && isChatReply(message.job)
    ? provider.reply(message.recipient, message.text, signal, message.job.delivery.delivery_id)
    : provider.send(message, signal)
