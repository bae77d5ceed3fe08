// Decides the next step of a delivery. In: its providers in order, the attempts made so far, the time. Out: one step.
// At the end: for how long a message is returned to the broker. Pure. It is called again after every attempt, also by a
// process that takes over from one that died.
//
// The same code twice does no harm, a code that never comes does. So an attempt with an unknown outcome is not the end: once the wait for a
// receipt is over, the next provider is called, and where no other is left, the same one once more.
import type { FailureReason } from '../../machines/otp.ts'
import { type AttemptResult, END_OF_ROUND } from '../domain/verifications/documents.ts'
import type { AttemptKey, PastAttempt } from './provider-attempts.ts'

export interface ProviderStatus {
  name: string
  /** The vendor reports whether a message arrived. */
  sendsReceipts: boolean
  repeatable: boolean
  /** Its gate does not let us call it now: its breaker is open, or the vendor asked for a pause. */
  shut: boolean
  /** False while it is paused, and where it does not serve the recipient's country. Receipts of earlier calls are waited for. */
  mayBeCalled: boolean
}

export interface Situation {
  /** In the order to try them. */
  providers: readonly ProviderStatus[]
  pastAttempts: readonly PastAttempt[]
  now: number
  expiresAt: number
  /** The message is no longer wanted: no provider is called. */
  stale: boolean
  /** A consumer gave the broker's message back, or lost its connection, before it was done with the message. */
  redelivered: boolean
}

export interface Policy {
  /** How long a receipt is waited for after an attempt with an unknown outcome. */
  unknownWaitMs: number
  /** How long another process may take to make a call and save its result. */
  underWayMs: number
  /** The same once the message was redelivered: the process that made the attempt has most likely died. If it lives,
   *  most calls end sooner. */
  redeliveredUnderWayMs: number
  /** The waits between the rounds; there is one round more than there are waits. */
  backoff: readonly number[]
}

export type DeliveryStep =
  | { kind: 'sent'; provider: string; at: number }
  | ({ kind: 'call' } & AttemptKey)
  | { kind: 'wait'; ms: number }
  /** No provider accepted the message in this round; the next round begins after `waitMs`. */
  | { kind: 'end_round'; round: number; waitMs: number }
  /** `mayHaveGone`: a provider may have got the message, and what became of it is not waited for any longer. */
  | { kind: 'fail'; reason: FailureReason; mayHaveGone?: true }

/** A provider is called so often while no call of it has a result: each process died, perhaps before its call. More often the message
 *  itself may be what kills the processes. */
const MAX_CALLS_WITHOUT_RESULT = 5
const MAY_HAVE_GONE = { mayHaveGone: true } as const
/** What one provider gets: the call, and the same once more. */
const MAX_UNKNOWN_RESULTS = 2

export function nextStep(situation: Situation, policy: Policy): DeliveryStep {
  const { pastAttempts, now, stale } = situation
  const accepted = findByResult(pastAttempts, 'accepted')
  if (accepted) return { kind: 'sent', provider: accepted.provider, at: accepted.at }
  // Another provider would not reach this recipient either.
  if (findByResult(pastAttempts, 'refused')) return { kind: 'fail', reason: 'recipient_unreachable' }
  // The message may have gone. A receipt settles the attempt.
  const undecidedUntilMs = Math.max(0, ...pastAttempts.map(attempt => undecidedUntil(attempt, situation, policy)))
  if (undecidedUntilMs > now) return { kind: 'wait', ms: undecidedUntilMs - now }
  if (stale) return { kind: 'fail', reason: 'superseded', ...(pastAttempts.some(mayHaveBeenSent) && MAY_HAVE_GONE) }
  return stepInRound(situation, policy)
}

function stepInRound({ providers: all, pastAttempts, now }: Situation, { backoff }: Policy): DeliveryStep {
  const providers = all.filter(({ mayBeCalled }) => mayBeCalled)
  const endedRounds = pastAttempts.filter(({ provider }) => provider === END_OF_ROUND)
  const round = endedRounds.length + 1
  const lastEndedAt = endedRounds.reduce((at, end) => Math.max(at, end.at), 0)
  const startsAt = round === 1 ? 0 : lastEndedAt + (backoff[round - 2] ?? 0)
  if (startsAt > now) return { kind: 'wait', ms: startsAt - now }

  const untried = providers.filter(
    ({ name, repeatable }) => repeatable || undecidedCalls(name, pastAttempts).length === 0,
  )
  const left = [...untried, ...providersToRepeat(providers, pastAttempts)]
  if (left.length === 0) return { kind: 'fail', reason: reasonOf(providers, pastAttempts) }
  const callsInRound = (name: string): PastAttempt[] =>
    pastAttempts.filter(attempt => attempt.provider === name && attempt.round === round)
  const next = left.find(({ name, shut }) => !shut && !findByResult(callsInRound(name), 'failed'))
  if (next) {
    const call = next.repeatable ? 1 : Math.max(0, ...callsInRound(next.name).map(({ call }) => call)) + 1
    return { kind: 'call', provider: next.name, round, call }
  }
  const waitMs = backoff[round - 1]
  if (waitMs !== undefined) return { kind: 'end_round', round, waitMs }
  return { kind: 'fail', reason: reasonOf(providers, pastAttempts) }
}

/** Why no provider took the message. A call that may have sent it weighs most: what became of it is not known. */
function reasonOf(providers: readonly ProviderStatus[], pastAttempts: readonly PastAttempt[]): FailureReason {
  if (pastAttempts.some(mayHaveBeenSent)) return 'no_answer'
  const wasCalled = pastAttempts.some(({ provider }) => provider !== END_OF_ROUND)
  return wasCalled || providers.length > 0 ? 'provider_failed' : 'no_provider'
}

/** The providers that may be called again after a call that may have sent the message, in the order to try them. First those whose calls
 *  all lack a result: they may never have been called. Then the one that was called last. */
function providersToRepeat(
  providers: readonly ProviderStatus[],
  pastAttempts: readonly PastAttempt[],
): ProviderStatus[] {
  const known = providers
    .filter(({ repeatable }) => !repeatable)
    .map(provider => {
      const undecided = undecidedCalls(provider.name, pastAttempts)
      return {
        provider,
        calls: undecided.length,
        unknownResults: undecided.filter(({ result }) => result === 'unknown').length,
        lastAt: Math.max(0, ...undecided.map(({ at }) => at)),
      }
    })
  const repeated = known.filter(({ calls }) => calls > 0 && calls < MAX_CALLS_WITHOUT_RESULT)
  const lastAt = Math.max(0, ...known.map(one => one.lastAt))
  return [
    ...repeated.filter(({ unknownResults }) => unknownResults === 0),
    ...repeated.filter(
      one => one.unknownResults > 0 && one.unknownResults < MAX_UNKNOWN_RESULTS && one.lastAt === lastAt,
    ),
  ].map(({ provider }) => provider)
}

const findByResult = (pastAttempts: readonly PastAttempt[], result: AttemptResult): PastAttempt | undefined =>
  pastAttempts.find(attempt => attempt.result === result)

const undecidedCalls = (name: string, pastAttempts: readonly PastAttempt[]): PastAttempt[] =>
  pastAttempts.filter(attempt => attempt.provider === name && mayHaveBeenSent(attempt))

const mayHaveBeenSent = ({ provider, result }: PastAttempt): boolean =>
  provider !== END_OF_ROUND && (result === null || result === 'unknown')

/** Until when an attempt that may have reached the recipient keeps us from calling a provider. */
function undecidedUntil(attempt: PastAttempt, situation: Situation, policy: Policy): number {
  const { providers, expiresAt } = situation
  const provider = providers.find(({ name }) => name === attempt.provider)
  if (!mayHaveBeenSent(attempt) || provider?.repeatable) return 0
  // Half of the code's life is left for the next call. A provider that was removed from the app sends no receipts.
  const receiptWaitMs = provider?.sendsReceipts
    ? Math.min(policy.unknownWaitMs, (expiresAt - attempt.unknownAt) / 2)
    : 0
  return Math.max(attempt.unknownAt + receiptWaitMs, underWayUntil(attempt, situation, policy))
}

/** Until when another process may still be making the call. */
function underWayUntil({ at, result, makerGone }: PastAttempt, { redelivered }: Situation, policy: Policy): number {
  if (result !== null || makerGone) return 0
  return at + (redelivered ? Math.min(policy.redeliveredUnderWayMs, policy.underWayMs) : policy.underWayMs)
}

/** For which of the queue's delays a message that should wait `ms` is returned to the broker: the longest that is not
 *  longer, because too early costs one more look, and too late makes a user wait. The time itself where none fits: the
 *  broker takes the next longer delay. */
export function delayUpTo(delays: readonly number[], ms: number): number {
  const short = delays.filter(delay => delay <= ms)
  return short.length === 0 ? ms : Math.max(...short)
}

/** The next shorter or the next longer delay, so that the mean of many is `ms`, and messages that were returned together do not come back
 *  together. `draw` is a random number from 0 up to 1. */
export function delayAround(delays: readonly number[], ms: number, draw: number): number {
  const shorter = delayUpTo(delays, ms)
  const longer = Math.min(...delays.filter(delay => delay > ms))
  return draw * (longer - shorter) < ms - shorter ? longer : shorter
}
