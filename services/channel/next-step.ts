// What to do next about a delivery. In: its providers in order, the calls made so far, the time. Out: one step. Pure: it is asked
// again after every call, and by whoever takes over from a process that died.
import type { AttemptResult } from '../domain/verifications/documents.ts'
import { END_OF_ROUND, type PastAttempt } from './attempts.ts'

export interface ProviderStatus {
  name: string
  /** Its vendor tells us what became of a message. */
  sendsReceipts: boolean
  repeatable: boolean
  /** Not to be called now: its breaker is open. */
  shut: boolean
}

export interface Situation {
  /** In the order to try them. */
  providers: readonly ProviderStatus[]
  pastAttempts: readonly PastAttempt[]
  now: number
  expiresAt: number
  /** The verification wants it no more: nobody is called. */
  stale: boolean
}

export interface Policy {
  /** How long a receipt may take to settle a call whose outcome is unknown. */
  unknownWaitMs: number
  /** How long a call can be under way in another process. */
  underWayMs: number
  /** The waits between the rounds. */
  backoff: readonly number[]
}

export type Step =
  | { kind: 'sent'; provider: string; at: number }
  | { kind: 'call'; provider: string; round: number }
  | { kind: 'wait'; ms: number }
  /** Nobody took it this time; the next round begins after so long. */
  | { kind: 'end_round'; round: number; waitMs: number }
  | { kind: 'fail'; reason: string }

export function nextStep(situation: Situation, policy: Policy): Step {
  const { pastAttempts, now, stale } = situation
  const accepted = findByResult(pastAttempts, 'accepted')
  if (accepted) return { kind: 'sent', provider: accepted.provider, at: accepted.at }
  // No other provider would do better.
  if (findByResult(pastAttempts, 'refused')) return { kind: 'fail', reason: 'the recipient cannot be reached' }
  // It may have gone. A receipt decides; the delivery is then no longer queued when we look again.
  const undecidedUntilMs = Math.max(0, ...pastAttempts.map(call => undecidedUntil(call, situation, policy)))
  if (undecidedUntilMs > now) return { kind: 'wait', ms: undecidedUntilMs - now }
  if (stale) return { kind: 'fail', reason: 'nobody waits for it any more' }
  return stepInRound(situation, policy)
}

function stepInRound({ providers, pastAttempts, now }: Situation, { backoff }: Policy): Step {
  const endedRounds = pastAttempts.filter(({ provider }) => provider === END_OF_ROUND)
  const round = endedRounds.length + 1
  const lastEndedAt = endedRounds.reduce((at, end) => Math.max(at, end.at), 0)
  const startsAt = round === 1 ? 0 : lastEndedAt + (backoff[round - 2] ?? 0)
  if (startsAt > now) return { kind: 'wait', ms: startsAt - now }

  // Whoever may have sent it is never asked again, in no round.
  const remaining = providers.filter(
    one => one.repeatable || !pastAttempts.some(call => call.provider === one.name && mayHaveBeenSent(call)),
  )
  if (remaining.length === 0) return { kind: 'fail', reason: 'no provider is left' }
  const hasFailed = (name: string): boolean =>
    pastAttempts.some(call => call.provider === name && call.round === round && call.result === 'failed')
  const next = remaining.find(({ name, shut }) => !shut && !hasFailed(name))
  if (next) return { kind: 'call', provider: next.name, round }
  const waitMs = backoff[round - 1]
  return waitMs === undefined ? { kind: 'fail', reason: 'no provider took it' } : { kind: 'end_round', round, waitMs }
}

const findByResult = (pastAttempts: readonly PastAttempt[], result: AttemptResult): PastAttempt | undefined =>
  pastAttempts.find(call => call.result === result)

const mayHaveBeenSent = ({ provider, result }: PastAttempt): boolean =>
  provider !== END_OF_ROUND && (result === null || result === 'unknown')

/** Until when a call that may have reached the recipient keeps us from asking another provider. */
function undecidedUntil(call: PastAttempt, { providers, expiresAt }: Situation, policy: Policy): number {
  const provider = providers.find(({ name }) => name === call.provider)
  if (!mayHaveBeenSent(call) || provider?.repeatable) return 0
  // Half of the code's life is the next provider's. One that is configured no more is heard no more.
  const receiptWaitMs = provider?.sendsReceipts ? Math.min(policy.unknownWaitMs, (expiresAt - call.at) / 2) : 0
  return call.at + Math.max(receiptWaitMs, call.result === null ? policy.underWayMs : 0)
}
