// Makes one call of one provider for one delivery. In: a provider, a rendered message, and which call of the delivery it is. Out: the
// attempt and its result; when another process has made this call before, that process's attempt.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { requestOf } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { Permit } from './admission/provider-gates.ts'
import { type Candidate, isChatReply } from './candidates.ts'
import type { Accepted, Provider, RenderedMessage } from './provider.ts'
import type { AttemptOutcome, Attempts, PastAttempt, StartedAttempt } from './provider-attempts.ts'
import { callDetails, callWithTimeout } from './vendor-call.ts'

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

export function createCallProvider({ attempts, clock, log, metrics, timeoutMs }: CallProviderDeps): CallProvider {
  /** The attempt is in the store before the call, so that no process makes the same call again. */
  async function callOnce(request: ProviderCall): Promise<MadeAttempt> {
    const { candidate, message, round, call, permit } = request
    let started: StartedAttempt
    try {
      started = await attempts.start(message.job, { provider: candidate.name, round, call })
    } catch (error) {
      permit?.release()
      throw error
    }
    if (!started.isNew) {
      permit?.release()
      return started
    }
    const outcome = await callAndLog(request)
    await tryToSave(attempts.finish(started, outcome), message)
    return { ...started, result: outcome.result, unknownAt: clock.now() }
  }

  /** The same message twice does no harm at this provider, so one write after the call is enough. */
  async function callRepeatable(request: ProviderCall): Promise<MadeAttempt> {
    const { candidate, message, round, call } = request
    const provider = candidate.name
    const at = clock.now()
    const outcome = await callAndLog(request)
    await tryToSave(attempts.record(message.job, { provider, round, at, ...outcome }), message)
    return { provider, round, call, at, result: outcome.result, unknownAt: at, makerGone: false, isNew: true }
  }

  async function callAndLog({ candidate, message, round, call, permit }: ProviderCall): Promise<AttemptOutcome> {
    const { job } = message
    const { otp_id, app_id } = job.otp
    const { delivery_id, channel } = job.delivery
    const startedAt = clock.now()
    const callVendor = () =>
      callWithTimeout(signal => sendOrReply(candidate.provider, message, signal), { clock, timeoutMs })
    const { result, reference, answer, fault } = await (permit ? permit.run(callVendor) : callVendor())
    const ms = clock.now() - startedAt
    const details = callDetails(answer, ms, message, candidate.secrets)
    metrics.deliveryAttempts.observe({ channel, provider: candidate.type, outcome: result }, ms / 1000)
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

  return request =>
    request.candidate.provider.repeatable
      ? callRepeatable(request)
      : attempts.track(request.message.job, () => callOnce(request))
}

/** A user who wrote to us on WhatsApp gets a reply in the chat instead of a template message. */
const sendOrReply = (provider: Provider, message: RenderedMessage, signal: AbortSignal): Promise<Accepted> =>
  provider.reply && isChatReply(message.job)
    ? provider.reply(message.recipient, message.text, signal, message.job.delivery.delivery_id)
    : provider.send(message, signal)
