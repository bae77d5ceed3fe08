// Takes a delivery one step further. In: a delivery job as it is stored now. Out: an outcome for the broker, or null when the caller is
// to read the verification again and call once more. next-step.ts decides which step comes next; this file does it.
// An attempt is stored before its call and its result after it, so that another process can go on after a crash. An attempt at a
// `repeatable` provider is stored only after its call: after a crash the call is made again.
import { type DeliveredMessage, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { FailureReason } from '../../machines/otp.ts'
import type { DeliverBody } from '../domain/verifications/effect-messages.ts'
import type { Admission, AdmissionResult } from './admission/admission.ts'
import type { Attempts, CallKey, PastAttempt } from './attempts.ts'
import type { CallProvider } from './call-provider.ts'
import type { Candidate, Candidates } from './candidates.ts'
import { nextStep, type Policy, type ProviderStatus } from './next-step.ts'
import type { DeliveryJob, RenderedMessage } from './provider.ts'
import type { PublishReport } from './report-publisher.ts'

/** What is known of a delivery's attempts while one message of the broker is handled. */
export interface DeliveryRun {
  pastAttempts: readonly PastAttempt[]
  historyLoaded: boolean
  /** The broker delivers the message for the first time, so there should be no history. If there is one, the provider's attempt is
   *  found in the store before the call is made. */
  isFirstTry: boolean
  /** See `DeliveredMessage.redelivered`. */
  redelivered: boolean
  /** Providers that admission would not let us call. */
  shutProviders: Set<string>
}

export interface Failover {
  /** A retry when all of the app's providers are busy, so that the verification is not read in vain; otherwise null. */
  retryIfBusy(owner: NonNullable<DeliverBody['live']>): Promise<Outcome | null>
  startRun(message: Pick<DeliveredMessage, 'attempt' | 'redelivered'>): DeliveryRun
  /** `stale`: the message is no longer wanted. */
  advance(job: DeliveryJob, stale: boolean, run: DeliveryRun): Promise<Outcome | null>
  /** For a delivery that is no longer queued: the sandbox plays its receipts again, since a crash may have cut them off. */
  repeatReceipts(job: DeliveryJob): Promise<Outcome>
}

export interface FailoverDeps {
  attempts: Attempts
  candidates: Candidates
  admission: Pick<Admission, 'admit' | 'busyMs'>
  render(job: DeliveryJob): Promise<RenderedMessage>
  callProvider: CallProvider
  publishReport: PublishReport
  clock: Clock
  policy: Policy
}

/** A busy provider is tried again after the time that this many of its calls take, but not later than the maximum: a user waits. */
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
  policy,
}: FailoverDeps): Failover {
  async function advance(job: DeliveryJob, stale: boolean, run: DeliveryRun): Promise<Outcome | null> {
    const all = await candidates.of(job)
    if (!stale && all.length === 0) await candidates.throwIfKeyMissing(job)
    if (stale || !run.isFirstTry) await loadHistory(job, run)
    const situation = {
      providers: all.map(candidate => providerStatus(candidate, run)),
      pastAttempts: run.pastAttempts,
      now: clock.now(),
      expiresAt: job.otp.expires_at,
      stale,
      redelivered: run.redelivered,
    }
    const step = nextStep(situation, policy)
    switch (step.kind) {
      case 'sent':
        await publishReport(job, 'sent', { provider: step.provider })
        return playReceipts(job, findCandidate(all, step.provider), step.at)
      case 'wait':
        return retryAfter(step.ms)
      case 'end_round':
        await attempts.endRound(job, step.round)
        return retryAfter(step.waitMs)
      case 'fail':
        return fail(job, step.reason)
      case 'call':
        return callCandidate(job, findCandidate(all, step.provider), step, run)
    }
  }

  async function callCandidate(
    job: DeliveryJob,
    candidate: Candidate | undefined,
    { round, call }: CallKey,
    run: DeliveryRun,
  ): Promise<Outcome | null> {
    if (!candidate) throw new Error('the next step names a provider that is not a candidate')
    const permit = await admit(job, candidate)
    if (permit === 'shut') return passOver(job, candidate, run)
    if (permit && 'busyMs' in permit) return retryWhenFree(permit.busyMs)
    const message = await render(job).catch(error => {
      permit?.release()
      throw error
    })
    const attempt = await callProvider({ candidate, message, round, call, permit })
    if (attempt.isNew) run.pastAttempts = [...run.pastAttempts, attempt]
    else await reloadHistory(job, run)
    return attempt.result === 'accepted' ? advance(job, false, run) : null
  }

  async function passOver(job: DeliveryJob, candidate: Candidate, run: DeliveryRun): Promise<Outcome | null> {
    // Another process may have called this provider. Then the message may have gone, and no other provider is called yet.
    await loadHistory(job, run)
    run.shutProviders.add(candidate.name)
    return advance(job, false, run)
  }

  async function loadHistory(job: DeliveryJob, run: DeliveryRun): Promise<void> {
    if (!run.historyLoaded) await reloadHistory(job, run)
  }

  async function reloadHistory(job: DeliveryJob, run: DeliveryRun): Promise<void> {
    run.pastAttempts = await attempts.history(job)
    run.historyLoaded = true
  }

  /** The sandbox needs no permit, even where an app has configured it as its own provider. */
  const admit = async ({ otp }: DeliveryJob, { name, type }: Candidate): Promise<AdmissionResult | undefined> =>
    type === 'sandbox' ? undefined : admission.admit({ company_id: otp.company_id, app_id: otp.app_id, name, type })

  /** The OTP actor logs the failure once it has recorded it. */
  async function fail(job: DeliveryJob, reason: FailureReason): Promise<Outcome> {
    await publishReport(job, 'failed', { reason })
    return done()
  }

  const playReceipts = async (job: DeliveryJob, candidate: Candidate | undefined, at: number): Promise<Outcome> =>
    candidate?.provider.simulateReceipts?.(job, at) ?? done()

  /** Does not count as an attempt. Waits longer where the provider's calls take longer. */
  const retryWhenFree = (callMs: number): Outcome => retryAfter(Math.min(callMs * BUSY_RETRY_CALLS, MAX_BUSY_RETRY_MS))

  /** Chooses the longest of the queue's delays that is not longer than `ms`: too early costs one more look, too late makes a user wait. */
  const retryAfter = (ms: number): Outcome => {
    const delays = policy.backoff.filter(delay => delay <= ms)
    return retry(delays.length === 0 ? ms : Math.max(...delays))
  }

  return {
    advance,
    async retryIfBusy({ company_id, app_id }) {
      const all = await candidates.ofApp(app_id)
      const busyMs = admission.busyMs(all.map(({ name, type }) => ({ company_id, app_id, name, type })))
      return busyMs === null ? null : retryWhenFree(busyMs)
    },
    startRun: ({ attempt, redelivered }) => ({
      pastAttempts: [],
      historyLoaded: false,
      isFirstTry: attempt === 1,
      redelivered,
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
