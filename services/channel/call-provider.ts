// One call of one provider for one delivery, at most once a round. In: a provider and a rendered message. Out: what came of it, also
// when another process made the call.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { ProviderType } from '../domain/tenancy/providers.ts'
import type { AttemptResult } from '../domain/verifications/documents.ts'
import type { CallFeedback, Permit } from './admission/admission.ts'
import type { Attempts, PastAttempt, StartedAttempt } from './attempts.ts'
import {
  DestinationFault,
  type Provider,
  ProviderFault,
  RecipientFault,
  type RenderedMessage,
  UnknownOutcome,
} from './provider.ts'

export interface Candidate {
  /** As the app calls it. */
  name: string
  type: ProviderType
  provider: Provider
}

export interface AttemptDeps {
  attempts: Pick<Attempts, 'start' | 'finish' | 'record'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'deliveryAttempts'>
  timeoutMs: number
}

/** What is known of the call after it; `fresh` is false when there was one before, of which others may know more. */
export type MadeAttempt = PastAttempt & { isNew: boolean }

/** `pass` is used up; the sandbox needs none. */
export type CallProvider = (
  candidate: Candidate,
  message: RenderedMessage,
  round: number,
  permit?: Permit,
) => Promise<MadeAttempt>

export function createCallProvider({ attempts, clock, log, metrics, timeoutMs }: AttemptDeps): CallProvider {
  async function callAndLog(
    candidate: Candidate,
    message: RenderedMessage,
    round: number,
    permit: Permit,
  ): Promise<CallOutcome> {
    const { job } = message
    const startedAt = clock.now()
    const outcome = await permit.run(() => callWithTimeout(candidate.provider, message, { clock, timeoutMs }))
    const { result, fault } = outcome
    const ms = clock.now() - startedAt
    const { delivery_id, channel } = job.delivery
    metrics.deliveryAttempts.observe({ channel, provider: candidate.type, outcome: result }, ms / 1000)
    const fields = { otp_id: job.otp.otp_id, delivery_id, channel, provider: candidate.name, round }
    log.info({ ...fields, outcome: result, ms, ...(fault ? { err: fault } : {}) }, 'delivery.attempted')
    return outcome
  }

  /** What came of the call is known here and now, also when it cannot be written down. Whoever finds a claim without a result
   *  takes it for unknown, which is the careful thing to do. */
  async function tryToSave(saving: Promise<void>, { job }: RenderedMessage): Promise<void> {
    try {
      await saving
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, delivery_id: job.delivery.delivery_id }, 'attempt.not_recorded')
    }
  }

  /** Whoever repeats it reaches nobody twice: nothing is claimed, and what came of it is written once. */
  async function callRepeatable(
    candidate: Candidate,
    message: RenderedMessage,
    round: number,
    permit: Permit,
  ): Promise<MadeAttempt> {
    const { name: provider } = candidate
    const at = clock.now()
    const { result, reference } = await callAndLog(candidate, message, round, permit)
    await tryToSave(attempts.record(message.job, { provider, round, at, result, reference }), message)
    return { provider, round, at, result, isNew: true }
  }

  async function callOnce(
    candidate: Candidate,
    message: RenderedMessage,
    round: number,
    permit: Permit,
  ): Promise<MadeAttempt> {
    let started: StartedAttempt
    try {
      started = await attempts.start(message.job, candidate.name, round)
    } catch (error) {
      permit.release()
      throw error
    }
    // A call was made, by a process that died or still is at it, and nobody knows what came of it: it is not made again.
    if (!started.isNew) {
      permit.release()
      return started
    }
    const outcome = await callAndLog(candidate, message, round, permit)
    await tryToSave(attempts.finish(started, outcome), message)
    return { ...started, result: outcome.result }
  }

  return (candidate, message, round, permit = UNLIMITED) =>
    (candidate.provider.repeatable ? callRepeatable : callOnce)(candidate, message, round, permit)
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
  { clock, timeoutMs }: Pick<AttemptDeps, 'clock' | 'timeoutMs'>,
): Promise<CallOutcome> {
  const controller = new AbortController()
  let cancel = (): void => {}
  // Raced as well as aborted: not everything gives up when told to.
  const timeout = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => {
      controller.abort()
      reject(controller.signal.reason)
    })
  })
  const defaults = { reference: null, retryAfterMs: null }
  try {
    const { reference } = await Promise.race([sendOrReply(provider, message, controller.signal), timeout])
    return { ...defaults, result: 'accepted', reference }
  } catch (error) {
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
    if (controller.signal.aborted) return { ...defaults, result: 'unknown' }
    throw error
  } finally {
    cancel()
  }
}

/** A user who wrote to us is answered in the chat; everyone else is written to. */
const sendOrReply = (provider: Provider, message: RenderedMessage, signal: AbortSignal) =>
  provider.reply && isChatReply(message.job)
    ? provider.reply(message.recipient, message.text, signal, message.job.delivery.delivery_id)
    : provider.send(message, signal)

/** In the link modes nothing is sent on WhatsApp but answers to the user's own message. */
export const isChatReply = ({ otp, delivery }: RenderedMessage['job']): boolean =>
  delivery.channel === 'whatsapp' && otp.whatsapp !== 'template'
