// One call of one provider for one delivery, at most. In: a provider and a rendered message. Out: what came of it, also when
// another process made the call.
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log.ts'
import type { AttemptResult } from '../../infra/otps/documents.ts'
import type { Claims } from './claims.ts'
import { type Provider, ProviderFault, RecipientFault, type Rendered, UnknownOutcome } from './provider.ts'

export interface Candidate {
  /** As the app calls it. */
  name: string
  provider: Provider
}

export interface Attempt {
  result: AttemptResult
  /** When the provider was called. */
  at: number
}

export interface AttemptParts {
  claims: Pick<Claims, 'claim' | 'settle'>
  clock: Clock
  log: Logger
  timeoutMs: number
}

/** `round` is for the log: the how-manieth time the broker delivers this message. */
export type MakeAttempt = (candidate: Candidate, message: Rendered, round: number) => Promise<Attempt>

export function attempting({ claims, clock, log, timeoutMs }: AttemptParts): MakeAttempt {
  return async ({ name, provider }, message, round) => {
    const { errand } = message
    const claim = await claims.claim(errand, name)
    const { at, result } = claim
    if (result !== null && result !== 'unknown') return { result, at }
    // A call was made, by a process that died or still is at it, and nobody knows what came of it.
    if (!claim.fresh && !provider.repeatable) return { result: 'unknown', at }

    const begun = clock.now()
    const { fault, ...ending } = await call(provider, message, { clock, timeoutMs })
    await claims.settle(claim, ending)
    const { otp_id } = errand.otp
    const { delivery_id, channel } = errand.delivery
    const fields = { otp_id, delivery_id, channel, provider: name, attempt: round, outcome: ending.result }
    log.info({ ...fields, ms: clock.now() - begun, ...(fault ? { err: fault } : {}) }, 'delivery.attempted')
    return { result: ending.result, at }
  }
}

interface Ending {
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
  try {
    const { reference } = await Promise.race([provider.send(message, aborting.signal), late])
    return { result: 'accepted', reference }
  } catch (error) {
    if (error instanceof RecipientFault) return { result: 'refused', reference: null, fault: error }
    if (error instanceof ProviderFault) return { result: 'failed', reference: null, fault: error }
    if (error instanceof UnknownOutcome || aborting.signal.aborted) return { result: 'unknown', reference: null }
    throw error
  } finally {
    cancel()
  }
}
