// What to do next about a delivery. In: its providers in order, the calls made so far, the time. Out: one step. Pure: it is asked
// again after every call, and by whoever takes over from a process that died.
import type { AttemptResult } from '../domain/verifications/documents.ts'
import { NOBODY, type Past } from './claims.ts'

export interface Standing {
  name: string
  /** Its vendor tells us what became of a message. */
  hears: boolean
  repeatable: boolean
  /** Not to be called now: its breaker is open. */
  shut: boolean
}

export interface Situation {
  /** In the order to try them. */
  providers: readonly Standing[]
  past: readonly Past[]
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
  const { past, now, stale } = situation
  const taken = calledWith(past, 'accepted')
  if (taken) return { kind: 'sent', provider: taken.provider, at: taken.at }
  // No other provider would do better.
  if (calledWith(past, 'refused')) return { kind: 'fail', reason: 'the recipient cannot be reached' }
  // It may have gone. A receipt decides; the delivery is then no longer queued when we look again.
  const undecided = Math.max(0, ...past.map(call => decidedAt(call, situation, policy)))
  if (undecided > now) return { kind: 'wait', ms: undecided - now }
  if (stale) return { kind: 'fail', reason: 'nobody waits for it any more' }
  return inRound(situation, policy)
}

function inRound({ providers, past, now }: Situation, { backoff }: Policy): Step {
  const ended = past.filter(({ provider }) => provider === NOBODY)
  const round = ended.length + 1
  const latest = ended.reduce((at, end) => Math.max(at, end.at), 0)
  const begins = round === 1 ? 0 : latest + (backoff[round - 2] ?? 0)
  if (begins > now) return { kind: 'wait', ms: begins - now }

  // Whoever may have sent it is never asked again, in no round.
  const left = providers.filter(
    one => one.repeatable || !past.some(call => call.provider === one.name && mayBeGone(call)),
  )
  if (left.length === 0) return { kind: 'fail', reason: 'no provider is left' }
  const asked = (name: string): boolean =>
    past.some(call => call.provider === name && call.round === round && call.result === 'failed')
  const next = left.find(({ name, shut }) => !shut && !asked(name))
  if (next) return { kind: 'call', provider: next.name, round }
  const waitMs = backoff[round - 1]
  return waitMs === undefined ? { kind: 'fail', reason: 'no provider took it' } : { kind: 'end_round', round, waitMs }
}

const calledWith = (past: readonly Past[], result: AttemptResult): Past | undefined =>
  past.find(call => call.result === result)

const mayBeGone = ({ provider, result }: Past): boolean =>
  provider !== NOBODY && (result === null || result === 'unknown')

/** Until when a call that may have reached the recipient keeps us from asking another provider. */
function decidedAt(call: Past, { providers, expiresAt }: Situation, policy: Policy): number {
  const provider = providers.find(({ name }) => name === call.provider)
  if (!mayBeGone(call) || provider?.repeatable) return 0
  // Half of the code's life is the next provider's. One that is configured no more is heard no more.
  const forReceipt = provider?.hears ? Math.min(policy.unknownWaitMs, (expiresAt - call.at) / 2) : 0
  return call.at + Math.max(forReceipt, call.result === null ? policy.underWayMs : 0)
}
