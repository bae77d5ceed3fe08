// One call of one provider for one delivery, at most once a round. In: a provider and a rendered message. Out: what came of it, also
// when another process made the call.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import type { ProviderType } from '../domain/tenancy/providers.ts'
import type { AttemptResult } from '../domain/verifications/documents.ts'
import type { Called, Pass } from './admission/gates.ts'
import type { Claim, Claims, Past } from './claims.ts'
import {
  DestinationFault,
  type Provider,
  ProviderFault,
  RecipientFault,
  type Rendered,
  UnknownOutcome,
} from './provider.ts'

export interface Candidate {
  /** As the app calls it. */
  name: string
  type: ProviderType
  provider: Provider
}

export interface AttemptParts {
  claims: Pick<Claims, 'claim' | 'settle' | 'record'>
  clock: Clock
  log: Logger
  metrics: Pick<Metrics, 'deliveryAttempts'>
  timeoutMs: number
}

/** What is known of the call after it; `fresh` is false when there was one before, of which others may know more. */
export type Attempt = Past & { fresh: boolean }

/** `pass` is used up; the sandbox needs none. */
export type MakeAttempt = (candidate: Candidate, message: Rendered, round: number, pass?: Pass) => Promise<Attempt>

export function attempting({ claims, clock, log, metrics, timeoutMs }: AttemptParts): MakeAttempt {
  async function make(candidate: Candidate, message: Rendered, round: number, pass: Pass): Promise<Ending> {
    const { errand } = message
    const begun = clock.now()
    const ending = await pass.run(() => call(candidate.provider, message, { clock, timeoutMs }))
    const { result, fault } = ending
    const ms = clock.now() - begun
    const { delivery_id, channel } = errand.delivery
    metrics.deliveryAttempts.observe({ channel, provider: candidate.type, outcome: result }, ms / 1000)
    const fields = { otp_id: errand.otp.otp_id, delivery_id, channel, provider: candidate.name, round }
    log.info({ ...fields, outcome: result, ms, ...(fault ? { err: fault } : {}) }, 'delivery.attempted')
    return ending
  }

  /** What came of the call is known here and now, also when it cannot be written down. Whoever finds a claim without a result
   *  takes it for unknown, which is the careful thing to do. */
  async function written(writing: Promise<void>, { errand }: Rendered): Promise<void> {
    try {
      await writing
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, delivery_id: errand.delivery.delivery_id }, 'attempt.not_recorded')
    }
  }

  /** Whoever repeats it reaches nobody twice: nothing is claimed, and what came of it is written once. */
  async function freely(candidate: Candidate, message: Rendered, round: number, pass: Pass): Promise<Attempt> {
    const { name: provider } = candidate
    const at = clock.now()
    const { result, reference } = await make(candidate, message, round, pass)
    await written(claims.record(message.errand, { provider, round, at, result, reference }), message)
    return { provider, round, at, result, fresh: true }
  }

  async function claimed(candidate: Candidate, message: Rendered, round: number, pass: Pass): Promise<Attempt> {
    let claim: Claim
    try {
      claim = await claims.claim(message.errand, candidate.name, round)
    } catch (error) {
      pass.leave()
      throw error
    }
    // A call was made, by a process that died or still is at it, and nobody knows what came of it: it is not made again.
    if (!claim.fresh) {
      pass.leave()
      return claim
    }
    const ending = await make(candidate, message, round, pass)
    await written(claims.settle(claim, ending), message)
    return { ...claim, result: ending.result }
  }

  return (candidate, message, round, pass = OPEN) =>
    (candidate.provider.repeatable ? freely : claimed)(candidate, message, round, pass)
}

const OPEN: Pass = { run: call => call(), leave: () => {} }

interface Ending extends Called {
  result: AttemptResult
  reference: string | null
  fault?: Error
}

async function call(
  provider: Provider,
  message: Rendered,
  { clock, timeoutMs }: Pick<AttemptParts, 'clock' | 'timeoutMs'>,
): Promise<Ending> {
  const aborting = new AbortController()
  let cancel = (): void => {}
  // Raced as well as aborted: not everything gives up when told to.
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => {
      aborting.abort()
      reject(aborting.signal.reason)
    })
  })
  const ended = { reference: null, retryAfterMs: null }
  try {
    const { reference } = await Promise.race([said(provider, message, aborting.signal), late])
    return { ...ended, result: 'accepted', reference }
  } catch (error) {
    if (error instanceof RecipientFault) return { ...ended, result: 'refused', fault: error }
    if (error instanceof ProviderFault)
      return {
        ...ended,
        ...{ result: 'failed', fault: error, retryAfterMs: error.retryAfterMs },
        excused: error instanceof DestinationFault,
      }
    if (error instanceof UnknownOutcome) return { ...ended, result: 'unknown', fault: error }
    if (aborting.signal.aborted) return { ...ended, result: 'unknown' }
    throw error
  } finally {
    cancel()
  }
}

/** A user who wrote to us is answered in the chat; everyone else is written to. */
const said = (provider: Provider, message: Rendered, signal: AbortSignal) =>
  provider.reply && isAnswer(message.errand)
    ? provider.reply(message.recipient, message.text, signal, message.errand.delivery.delivery_id)
    : provider.send(message, signal)

/** In the link modes nothing is sent on WhatsApp but answers to the user's own message. */
export const isAnswer = ({ otp, delivery }: Rendered['errand']): boolean =>
  delivery.channel === 'whatsapp' && otp.whatsapp !== 'template'
