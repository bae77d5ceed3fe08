// Carries a delivery on by one step: a call of the next provider, a wait, or the end of it. What to do is decided in rounds.ts; here it
// is done. All that must outlive the process is in the store before and after each call.
import { done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { DeliverBody } from '../domain/verifications/effect-messages.ts'
import type { Admission, AdmissionResult } from './admission/admission.ts'
import type { Attempts, PastAttempt } from './attempts.ts'
import type { CallProvider, Candidate } from './call-provider.ts'
import type { Candidates } from './candidates.ts'
import { nextStep, type Policy, type ProviderStatus } from './next-step.ts'
import type { DeliveryJob, RenderedMessage } from './provider.ts'
import type { PublishReport } from './report-publisher.ts'

/** What one handling of the broker's message knows of the delivery's calls. */
export interface DeliveryRun {
  pastAttempts: readonly PastAttempt[]
  /** Whether it was looked up. Nothing is known of a message that comes for the first time; should that be wrong, its claim says so. */
  historyLoaded: boolean
  isFirstTry: boolean
  /** Providers found shut. */
  shutProviders: Set<string>
}

export interface Failover {
  /** Gives back at once what nobody could take now; null for what is to be looked at. */
  giveBackIfBusy(whose: NonNullable<DeliverBody['live']>): Promise<Outcome | null>
  /** `attempt` is the broker's. */
  startRun(attempt: number): DeliveryRun
  /** One step; null when the verification is to be looked at again before the next. */
  advance(job: DeliveryJob, staleReason: string | null, run: DeliveryRun): Promise<Outcome | null>
  /** The news is out, but the broker did not hear that we were done. */
  repeatReceipts(job: DeliveryJob): Promise<Outcome>
}

export interface CarryDeps {
  attempts: Attempts
  candidates: Candidates
  admission: Pick<Admission, 'admit' | 'busyMs'>
  render(job: DeliveryJob): Promise<RenderedMessage>
  callProvider: CallProvider
  publishReport: PublishReport
  clock: Clock
  log: Logger
  policy: Policy
}

/** So many calls, as long as they take now, are waited for before a provider that is busy is asked again; but a user waits. */
const BUSY_RETRY_CALLS = 2
const MAX_BUSY_RETRY_MS = 5_000

export function createFailover({
  attempts,
  candidates,
  admission,
  render,
  callProvider,
  publishReport,
  clock,
  log,
  policy,
}: CarryDeps): Failover {
  async function advance(job: DeliveryJob, staleReason: string | null, run: DeliveryRun): Promise<Outcome | null> {
    const all = await candidates.of(job)
    if (staleReason === null && all.length === 0) await candidates.throwIfKeyMissing(job)
    if (!run.isFirstTry || staleReason !== null) await loadHistory(job, run)
    const { pastAttempts } = run
    const providers = all.map(candidate => providerStatus(candidate, run))
    const { expires_at: expiresAt } = job.otp
    const step = nextStep({ providers, pastAttempts, now: clock.now(), expiresAt, stale: staleReason !== null }, policy)
    switch (step.kind) {
      case 'sent':
        await publishReport(job, 'sent')
        return playReceipts(job, findCandidate(all, step.provider), step.at)
      case 'wait':
        return retryAfter(step.ms)
      case 'end_round':
        await attempts.endRound(job, step.round)
        return retryAfter(step.waitMs)
      case 'fail':
        return fail(job, staleReason ?? step.reason)
      case 'call':
        return callCandidate(job, findCandidate(all, step.provider), step.round, run)
    }
  }

  async function callCandidate(job: DeliveryJob, candidate: Candidate | undefined, round: number, run: DeliveryRun) {
    if (!candidate) throw new Error('asked for a provider that is not there')
    const permit = await admit(job, candidate)
    if (typeof permit === 'object' && 'fullForMs' in permit) return retryWhenFree(permit.fullForMs)
    if (permit === 'shut') {
      // Before it is passed over: another process may have called it.
      await loadHistory(job, run)
      run.shutProviders.add(candidate.name)
      return advance(job, null, run)
    }
    const message = await render(job).catch(error => {
      permit?.release()
      throw error
    })
    const madeAttempt = await callProvider(candidate, message, round, permit)
    if (madeAttempt.isNew) run.pastAttempts = [...run.pastAttempts, madeAttempt]
    else await reloadHistory(job, run)
    return madeAttempt.result === 'accepted' ? advance(job, null, run) : null
  }

  async function loadHistory(job: DeliveryJob, run: DeliveryRun): Promise<void> {
    if (!run.historyLoaded) await reloadHistory(job, run)
  }

  async function reloadHistory(job: DeliveryJob, run: DeliveryRun): Promise<void> {
    run.pastAttempts = await attempts.history(job)
    run.historyLoaded = true
  }

  /** The sandbox takes whatever comes, also as an app's provider of its own. */
  const admit = async ({ otp }: DeliveryJob, { name, type }: Candidate): Promise<AdmissionResult | undefined> =>
    type === 'sandbox' ? undefined : admission.admit({ company_id: otp.company_id, app_id: otp.app_id, name, type })

  /** Whoever waits for it is told. */
  async function fail(job: DeliveryJob, reason: string): Promise<Outcome> {
    const { otp_id, app_id } = job.otp
    const { delivery_id, channel } = job.delivery
    log.warn({ otp_id, app_id, delivery_id, channel, reason }, 'delivery.dropped')
    await publishReport(job, 'failed')
    return done()
  }

  const playReceipts = async (job: DeliveryJob, candidate: Candidate | undefined, at: number): Promise<Outcome> =>
    candidate?.provider.simulateReceipts?.(job, at) ?? done()

  /** At no cost. Where calls take seconds, nothing is won by coming back every second. */
  const retryWhenFree = (callMs: number): Outcome => retryAfter(Math.min(callMs * BUSY_RETRY_CALLS, MAX_BUSY_RETRY_MS))

  /** The longest of the queue's delays that is not too long: woken early, we ask again; woken late, a user waits. */
  const retryAfter = (ms: number): Outcome => {
    const delays = policy.backoff.filter(delay => delay <= ms)
    return retry(delays.length === 0 ? ms : Math.max(...delays))
  }

  return {
    advance,
    async giveBackIfBusy({ company_id, app_id }) {
      const all = await candidates.ofApp(app_id)
      const ms = admission.busyMs(all.map(({ name, type }) => ({ company_id, app_id, name, type })))
      return ms === null ? null : retryWhenFree(ms)
    },
    startRun: attempt => ({
      pastAttempts: [],
      isFirstTry: attempt === 1,
      historyLoaded: false,
      shutProviders: new Set(),
    }),
    async repeatReceipts(job) {
      const all = await candidates.of(job)
      if (!all.some(({ provider }) => provider.simulateReceipts)) return done()
      const accepted = (await attempts.history(job)).find(({ result }) => result === 'accepted')
      return accepted ? playReceipts(job, findCandidate(all, accepted.provider), accepted.at) : done()
    },
  }
}

const findCandidate = (candidates: readonly Candidate[], name: string): Candidate | undefined =>
  candidates.find(candidate => candidate.name === name)

const providerStatus = ({ name, provider }: Candidate, { shutProviders }: DeliveryRun): ProviderStatus => ({
  name,
  sendsReceipts: provider.parseCallback !== undefined,
  repeatable: provider.repeatable === true,
  shut: shutProviders.has(name),
})
