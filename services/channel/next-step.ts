// Decides the next step of a delivery. In: its providers in order, the attempts made so far, the time. Out: one step. Pure. It is called
// again after every attempt, also by a process that takes over from one that died.
import type { AttemptResult } from '../domain/verifications/documents.ts'
import { END_OF_ROUND, type PastAttempt } from './attempts.ts'

export interface ProviderStatus {
  name: string
  /** The vendor reports whether a message arrived. */
  sendsReceipts: boolean
  repeatable: boolean
  /** Admission does not let us call it now: its breaker is open, or the vendor asked for a pause. */
  shut: boolean
}

export interface Situation {
  /** In the order to try them. */
  providers: readonly ProviderStatus[]
  pastAttempts: readonly PastAttempt[]
  now: number
  expiresAt: number
  /** The message is no longer wanted: no provider is called. */
  stale: boolean
}

export interface Policy {
  /** How long a receipt is waited for after an attempt with an unknown outcome. */
  unknownWaitMs: number
  /** How long another process may take to make a call and save its result. */
  underWayMs: number
  /** The waits between the rounds; there is one round more than there are waits. */
  backoff: readonly number[]
}

export type DeliveryStep =
  | { kind: 'sent'; provider: string; at: number }
  | { kind: 'call'; provider: string; round: number }
  | { kind: 'wait'; ms: number }
  /** No provider accepted the message in this round; the next round begins after `waitMs`. */
  | { kind: 'end_round'; round: number; waitMs: number }
  | { kind: 'fail'; reason: string }

export function nextStep(situation: Situation, policy: Policy): DeliveryStep {
  const { pastAttempts, now, stale } = situation
  const accepted = findByResult(pastAttempts, 'accepted')
  if (accepted) return { kind: 'sent', provider: accepted.provider, at: accepted.at }
  // Another provider would not reach this recipient either.
  if (findByResult(pastAttempts, 'refused')) return { kind: 'fail', reason: 'the recipient cannot be reached' }
  // The message may have gone. A receipt would change the delivery's status, and this function would not be called for it again.
  const undecidedUntilMs = Math.max(0, ...pastAttempts.map(attempt => undecidedUntil(attempt, situation, policy)))
  if (undecidedUntilMs > now) return { kind: 'wait', ms: undecidedUntilMs - now }
  if (stale) return { kind: 'fail', reason: 'the message is no longer wanted' }
  return stepInRound(situation, policy)
}

function stepInRound({ providers, pastAttempts, now }: Situation, { backoff }: Policy): DeliveryStep {
  const endedRounds = pastAttempts.filter(({ provider }) => provider === END_OF_ROUND)
  const round = endedRounds.length + 1
  const lastEndedAt = endedRounds.reduce((at, end) => Math.max(at, end.at), 0)
  const startsAt = round === 1 ? 0 : lastEndedAt + (backoff[round - 2] ?? 0)
  if (startsAt > now) return { kind: 'wait', ms: startsAt - now }

  // A provider that may have sent the message is not called again in any round: the user would get the code twice.
  const remaining = providers.filter(
    one => one.repeatable || !pastAttempts.some(attempt => attempt.provider === one.name && mayHaveBeenSent(attempt)),
  )
  if (remaining.length === 0) return { kind: 'fail', reason: 'no provider is left' }
  const hasFailed = (name: string): boolean =>
    pastAttempts.some(attempt => attempt.provider === name && attempt.round === round && attempt.result === 'failed')
  const next = remaining.find(({ name, shut }) => !shut && !hasFailed(name))
  if (next) return { kind: 'call', provider: next.name, round }
  const waitMs = backoff[round - 1]
  return waitMs === undefined ? { kind: 'fail', reason: 'no provider took it' } : { kind: 'end_round', round, waitMs }
}

const findByResult = (pastAttempts: readonly PastAttempt[], result: AttemptResult): PastAttempt | undefined =>
  pastAttempts.find(attempt => attempt.result === result)

const mayHaveBeenSent = ({ provider, result }: PastAttempt): boolean =>
  provider !== END_OF_ROUND && (result === null || result === 'unknown')

/** Until when an attempt that may have reached the recipient keeps us from calling another provider. */
function undecidedUntil(attempt: PastAttempt, { providers, expiresAt }: Situation, policy: Policy): number {
  const provider = providers.find(({ name }) => name === attempt.provider)
  if (!mayHaveBeenSent(attempt) || provider?.repeatable) return 0
  // Half of the code's life is left for the next provider. A provider that was removed from the app sends no receipts.
  const receiptWaitMs = provider?.sendsReceipts ? Math.min(policy.unknownWaitMs, (expiresAt - attempt.at) / 2) : 0
  return attempt.at + Math.max(receiptWaitMs, attempt.result === null ? policy.underWayMs : 0)
}
