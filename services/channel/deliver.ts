// The channel actor. In: a message of the channel's queue that names a delivery. Out: an outcome for the broker, and a report to the OTP
// actor once a provider has accepted the delivery or none will. next-step.ts decides each step; this file does it, until the delivery is
// sent, has failed or must wait. The verification is read again after every provider call, and after a long wait for one, because it may
// have ended since.
//
// An attempt is stored before its call and its result after it, so that another process can go on after a crash. An attempt at a
// `repeatable` provider is stored only after its call: after a crash the call is made again.
import { type DeliveredMessage, dead, done, type Outcome, retry, unreadable } from '../../infra/broker/broker.ts'
import type { Cache } from '../../infra/cache.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Keyring } from '../../infra/crypto/keyring.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
  type MissingKeyError,
} from '../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Docs, ReadOptions } from '../../infra/store/docs.ts'
import { getOne } from '../../infra/store/one-doc.ts'
import { requestOf, type Traced, withTrace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { chooseLocale } from '../../machines/locale.ts'
import { statusAt } from '../../machines/otp.code-life.ts'
import type { Delivery, RouteReason, SavedStatus } from '../../machines/otp.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { TenantApp } from '../domain/tenancy/tenancy.ts'
import { LANGUAGES } from '../domain/texts/message-text.ts'
import { END_OF_ROUND, type OtpDoc } from '../domain/verifications/documents.ts'
import { renderContent } from '../domain/verifications/message-content.ts'
import { notOwedBefore } from '../domain/verifications/owed.ts'
import { type ApprovalNoticeBody, type DeliverBody, isChannelMessage } from '../domain/verifications/queue-messages.ts'
import type { GateAnswer, Permit, ProviderGates, ProviderKey } from './admission/provider-gates.ts'
import type { SendApprovalReply } from './approval-reply.ts'
import type { CallProvider } from './call-provider.ts'
import { type Candidate, type Candidates, isChatReply, mayCall } from './candidates.ts'
import type { LoadReports } from './load-reports.ts'
import { type DeliveryStep, delayAround, delayUpTo, nextStep, type Policy, type ProviderStatus } from './next-step.ts'
import type { DeliveryJob, DeliveryMessage } from './provider.ts'
import type { PastAttempt, ProviderAttempts } from './provider-attempts.ts'
import type { PublishReport } from './report-publisher.ts'
import type { OrderCandidates, OrderedCandidates } from './route-order.ts'

export interface DeliverDeps {
  otps: Pick<Docs<OtpDoc>, 'get' | 'update'>
  attempts: ProviderAttempts
  candidates: Candidates
  orderCandidates: OrderCandidates
  gates: Pick<ProviderGates, 'admit' | 'busyMs' | 'hold' | 'reserve'>
  loads: Pick<LoadReports, 'beginCall' | 'markBusy'>
  metrics: Pick<Metrics, 'deliveryWait'>
  apps: Pick<Cache<TenantApp | null>, 'get'>
  keyring: Pick<Keyring, 'unseal' | 'code'>
  callProvider: CallProvider
  publishReport: PublishReport
  sendApprovalReply: SendApprovalReply
  policy: Policy
  clock: Clock
  log: Logger
  random?(): number
}

/** How long the broker keeps a message when the store or the broker itself is away. */
const UNAVAILABLE_RETRY_MS = 1_000
/** A busy provider is tried again in less time than a message would wait for it: a provider whose queue has run empty would have nothing to
 *  do until its messages come back. But not later than the maximum: a user waits. */
const BUSY_RETRY_SHARE = 0.75
const MAX_BUSY_RETRY_MS = 5_000
/** A message that waited longer than this for its provider may have waited in vain: its verification is read again. */
const MAX_READ_AGE_MS = 1_000

export function createDeliver(deps: DeliverDeps): (message: DeliveredMessage) => Promise<Outcome> {
  const { otps, attempts, candidates, orderCandidates, gates, loads, metrics, callProvider, publishReport } = deps
  const { policy, clock, log, random = Math.random } = deps
  const reportMissingKey = createMissingKeyReporter({ log, clock })
  const busyDelays = policy.backoff.filter(delay => delay <= MAX_BUSY_RETRY_MS)

  /** Null when the verification is missing, and, unless the read is certain, when its delivery is: a primary of the store that was cut off
   *  may answer from before they were saved. */
  async function find(
    { otp_id, delivery_id }: DeliverBody,
    options: ReadOptions = {},
  ): Promise<{ doc: OtpDoc; delivery: Delivery | undefined } | null> {
    const doc = await getOne(otps, otp_id, options)
    if (!doc) return null
    const delivery = toCurrentVersion(doc).context.deliveries.find(one => one.delivery_id === delivery_id)
    return delivery || options.certain ? { doc, delivery } : null
  }

  const findWithCertainty = async (body: DeliverBody) => (await find(body)) ?? (await find(body, { certain: true }))

  /** Whether the delivery is still to be sent. */
  async function isWanted(body: DeliverBody): Promise<boolean> {
    const found = await findWithCertainty(body)
    if (!found?.delivery) return false
    const { value, context: otp } = toCurrentVersion(found.doc)
    const { delivery } = found
    return delivery.status === 'queued' && !isStale({ otp, delivery }, statusAt(value, otp, clock.now()))
  }

  /** The delivery as it is stored now; an outcome when there is nothing to send. */
  async function read(
    body: DeliverBody,
    { trace }: Traced,
  ): Promise<{ job: DeliveryJob; value: SavedStatus } | Outcome> {
    const found = await findWithCertainty(body)
    if (found === null) return done() // erased
    const { doc, delivery } = found
    if (!delivery) return dead('the verification has no such delivery')
    const { value, context: otp } = toCurrentVersion(doc)
    const job: DeliveryJob = { otp, delivery, purge_at: doc.purge_at, ...withTrace(trace) }
    return delivery.status === 'queued' ? { job, value } : repeatReceipts(job)
  }

  async function deliver(body: DeliverBody, message: DeliveredMessage): Promise<Outcome> {
    const providers = body.live ? await providersOf(body.live) : []
    // Asked first, so that the verification is not read in vain.
    for (let busyMs = gates.busyMs(providers); busyMs !== null; busyMs = gates.busyMs(providers)) {
      markBusy(body)
      if (!(await gates.hold(providers, message.publishedAt))) return retryWhenFree(gates.busyMs(providers) ?? 0)
    }
    const turn = createTurn(gates.reserve(providers))
    try {
      return await takeSteps(body, message, turn)
    } finally {
      turn.end()
    }
  }

  async function takeSteps(body: DeliverBody, message: DeliveredMessage, turn: Turn): Promise<Outcome> {
    const mayHaveHistory = message.redelivered || message.publishedAgain === true || message.attempt > 1
    let pastAttempts: readonly PastAttempt[] = []
    let historyLoaded = false
    const loadHistory = async (job: DeliveryJob): Promise<void> => {
      if (!historyLoaded) pastAttempts = await attempts.history(job)
      historyLoaded = true
    }
    const shutProviders = new Set<string>()
    let current: Awaited<ReturnType<typeof read>> | null = null
    let readAt = clock.now()
    for (;;) {
      if (current === null) {
        readAt = clock.now()
        current = await read(body, message)
      }
      if ('kind' in current) return current
      const { job, value } = current
      if (isBlocked(job)) {
        await publishReport(job, 'failed', { reason: 'recipient_unreachable' })
        return done()
      }
      const now = clock.now()
      const stale = isStale(job, statusAt(value, job.otp, now))
      const { candidates: all, because } = await orderCandidates(job, await candidates.of(job))
      if (!stale && !all.some(one => mayCall(one, job))) await candidates.throwIfKeyMissing(job)
      // A message that comes for the first time has no history, and is spared the read. One that comes again may have been given to a
      // provider that is not the first one any more.
      if (stale || mayHaveHistory) await loadHistory(job)
      const step = nextStep(
        {
          providers: all.map(candidate => providerStatus(candidate, job, shutProviders)),
          pastAttempts,
          now,
          expiresAt: job.otp.expires_at,
          stale,
          redelivered: message.redelivered,
        },
        policy,
      )
      if (step.kind !== 'call') return end(job, all, step, pastAttempts, turn)
      const candidate = findCandidate(all, step.provider)
      if (!candidate) throw new Error('the next step names a provider that is not a candidate')
      const keptPermit = turn.takePermit(candidate.name)
      const permit = keptPermit ?? (await admit(job, candidate))
      if (permit === 'shut') {
        // Another process may have called this provider. Then the message may have gone, and no other provider is called yet.
        await loadHistory(job)
        shutProviders.add(candidate.name)
        continue
      }
      if (permit && 'busyMs' in permit) {
        markBusy(body)
        return retryWhenFree(permit.busyMs)
      }
      if (permit && !keptPermit && clock.now() - readAt > MAX_READ_AGE_MS) {
        turn.keepPermit(candidate.name, permit)
        current = null
        continue
      }
      const rendered = await render(job).catch(error => {
        permit?.release()
        throw error
      })
      turn.beginCall(loads.beginCall(job.otp.otp_id))
      if (pastAttempts.length === 0)
        metrics.deliveryWait.observe({ channel: job.delivery.channel }, (clock.now() - job.delivery.created_at) / 1_000)
      const attempt = await callProvider({
        candidate,
        message: rendered,
        round: step.round,
        call: step.call,
        because: reasonToCall(candidate, job, { ordered: { candidates: all, because }, pastAttempts, shutProviders }),
        permit,
        isWanted: () => isWanted(body),
      })
      if (attempt?.isNew) pastAttempts = [...pastAttempts, attempt]
      else {
        historyLoaded = false
        await loadHistory(job)
      }
      // Once it is accepted, the next step is `sent`, and nothing needs to be read again.
      if (attempt?.result !== 'accepted') current = null
    }
  }

  /** Right before the call, so that the code is in the clear for no longer than it. */
  async function render(job: DeliveryJob): Promise<DeliveryMessage> {
    const { otp, delivery } = job
    const app = await deps.apps.get(otp.app_id)
    if (!app) throw new Error(`the app of a verification is gone: ${otp.app_id}`)
    const locale = chooseLocale(otp.locale, app.settings.locale, LANGUAGES)
    return {
      job,
      delivery_id: delivery.delivery_id,
      expires_at: otp.expires_at,
      locale,
      requested_locale: otp.locale,
      ...renderContent(deps.keyring, { otp, delivery, app, locale }),
    }
  }

  async function end(
    job: DeliveryJob,
    all: readonly Candidate[],
    step: Exclude<DeliveryStep, { kind: 'call' }>,
    pastAttempts: readonly PastAttempt[],
    turn: Turn,
  ): Promise<Outcome> {
    switch (step.kind) {
      case 'sent': {
        const because = pastAttempts.find(({ result }) => result === 'accepted')?.because
        const details = { provider: step.provider, ...(because === undefined ? {} : { because }) }
        await publishReport(job, 'sent', details)
        turn.end()
        return playReceipts(job, findCandidate(all, step.provider), step.at)
      }
      case 'wait':
        await postpone(job, step.ms)
        return retryAfter(step.ms)
      case 'end_round':
        await attempts.endRound(job, step.round)
        await postpone(job, step.waitMs)
        return retryAfter(step.waitMs)
      case 'fail':
        // The OTP actor logs the failure once it has recorded it.
        await publishReport(job, 'failed', {
          reason: step.reason,
          ...unsubscribedIn(pastAttempts),
          ...(step.mayHaveGone ? { may_have_gone: true } : {}),
        })
        return done()
    }
  }

  /** Nothing is owed while a receipt or the next round is waited for. */
  const postpone = async ({ otp, delivery }: DeliveryJob, ms: number): Promise<void> =>
    void (await otps.update([{ ids: [otp.otp_id], update: notOwedBefore(clock.now() + ms, delivery.channel) }]))

  const markBusy = ({ live }: DeliverBody): void => {
    if (live) loads.markBusy(live.app_id)
  }

  const providersOf = async ({ company_id, app_id }: NonNullable<DeliverBody['live']>): Promise<ProviderKey[]> =>
    (await candidates.ofApp(app_id)).map(({ name, type }) => ({ company_id, app_id, name, type }))

  /** The sandbox needs no permit, even where an app has configured it as its own provider. */
  const admit = async ({ otp }: DeliveryJob, { name, type }: Candidate): Promise<GateAnswer | undefined> =>
    type === 'sandbox' ? undefined : gates.admit({ company_id: otp.company_id, app_id: otp.app_id, name, type })

  /** For a delivery that is no longer queued: the sandbox plays its receipts again, since a crash may have cut them off. */
  async function repeatReceipts(job: DeliveryJob): Promise<Outcome> {
    const all = await candidates.of(job)
    if (!all.some(({ provider }) => provider.simulateReceipts)) return done()
    const accepted = (await attempts.history(job)).find(({ result }) => result === 'accepted')
    return accepted ? playReceipts(job, findCandidate(all, accepted.provider), accepted.at) : done()
  }

  const playReceipts = async (job: DeliveryJob, candidate: Candidate | undefined, at: number): Promise<Outcome> =>
    candidate?.provider.simulateReceipts?.(job, at) ?? done()

  /** Does not count as an attempt. */
  const retryWhenFree = (waitMs: number): Outcome =>
    retry(delayAround(busyDelays, BUSY_RETRY_SHARE * Math.min(waitMs, MAX_BUSY_RETRY_MS), random()))

  const retryAfter = (ms: number): Outcome => retry(delayUpTo(policy.backoff, ms))

  /** A delivery waits for the key until its verification ends. The approval reply does not wait: it is a courtesy. */
  function handleMissingKey(
    error: MissingKeyError,
    request: DeliverBody | ApprovalNoticeBody,
    message: Traced,
  ): Outcome {
    reportMissingKey(error, { otp_id: request.otp_id, ...requestOf(message) })
    return 'approved' in request ? done() : retry(MISSING_KEY_RETRY_MS)
  }

  return async message => {
    const request = message.body
    if (!isChannelMessage(request)) return unreadable('not a delivery')
    try {
      return await ('approved' in request ? deps.sendApprovalReply(request, message.trace) : deliver(request, message))
    } catch (error) {
      if (isMissingKeyError(error)) return handleMissingKey(error, request, message)
      if (!(error instanceof Unavailable)) throw error
      log.warn({ ...requestOf(message), ...request, err: error }, 'delivery.postponed')
      return retry(UNAVAILABLE_RETRY_MS)
    }
  }
}

/** What a message holds on its way to a call: a reservation until it asks for a permit, and a permit while its
 *  verification is read again. From its first call until its turn is over it is in hand. */
interface Turn {
  keepPermit(provider: string, permit: Permit): void
  /** The permit, if one is kept for this provider. Everything else is given up. */
  takePermit(provider: string): Permit | null
  /** `ended` is called at the end of the turn. */
  beginCall(ended: () => void): void
  end(): void
}

function createTurn(endReservation: () => void): Turn {
  let isReserved = true
  let kept: { provider: string; permit: Permit } | null = null
  let endCall = (): void => {}
  function giveUp(): void {
    if (isReserved) endReservation()
    isReserved = false
    kept?.permit.release()
    kept = null
  }
  return {
    keepPermit(provider, permit) {
      kept = { provider, permit }
    },
    takePermit(provider) {
      const permit = kept?.provider === provider ? kept.permit : null
      if (permit) kept = null
      giveUp()
      return permit
    },
    beginCall(ended) {
      endCall()
      endCall = ended
    },
    end() {
      giveUp()
      endCall()
    },
  }
}

function unsubscribedIn(pastAttempts: readonly PastAttempt[]): { unsubscribed?: string } {
  const attempt = pastAttempts.find(({ unsubscribed }) => unsubscribed)
  return attempt === undefined ? {} : { unsubscribed: attempt.provider }
}

/** A reply in a chat that the recipient began is no message that they asked not to get. */
const isBlocked = (job: DeliveryJob): boolean => job.otp.circumstances?.blocked === true && !isChatReply(job)

/** The verification has ended, or a newer code was sent. */
const isStale = ({ otp, delivery }: Pick<DeliveryJob, 'otp' | 'delivery'>, status: SavedStatus): boolean =>
  status !== 'pending' || delivery.generation !== otp.generation

const findCandidate = (candidates: readonly Candidate[], name: string): Candidate | undefined =>
  candidates.find(candidate => candidate.name === name)

/** Why this provider is the first that is called for the delivery. Its later calls keep the reason: the facts, and what
 *  is drawn by them, may be others by then. Undefined for the first in the list, and where another was called before:
 *  the timeline can tell these. */
function reasonToCall(
  candidate: Candidate,
  job: DeliveryJob,
  {
    ordered: { candidates, because },
    pastAttempts,
    shutProviders,
  }: { ordered: OrderedCandidates; pastAttempts: readonly PastAttempt[]; shutProviders: ReadonlySet<string> },
): RouteReason | undefined {
  const calls = pastAttempts.filter(({ provider }) => provider !== END_OF_ROUND)
  if (calls.length > 0) return calls.find(({ provider }) => provider === candidate.name)?.because
  const first = candidates.find(one => mayCall(one, job))
  if (candidate === first) return because ?? undefined
  return first && shutProviders.has(first.name) ? { rule: 'taken_over', from: first.name } : undefined
}

const providerStatus = (candidate: Candidate, job: DeliveryJob, shut: ReadonlySet<string>): ProviderStatus => ({
  name: candidate.name,
  sendsReceipts: candidate.provider.parseCallback !== undefined,
  repeatable: candidate.provider.repeatable === true,
  shut: shut.has(candidate.name),
  mayBeCalled: mayCall(candidate, job),
})
