// The channel actor. In: "deliver this". Out: a provider was called, at most once, and the OTP actor was told what came of it.
// It decides by the verification as it is now, not as it was when the message was written.
import { type Delivered, dead, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Logger } from '../../infra/log.ts'
import type { DeliverBody, OtpDoc } from '../../infra/otps/documents.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { current } from '../../machines/otp.versions.ts'
import { statusAt } from '../../machines/rules.ts'
import type { Attempt, Candidate, MakeAttempt } from './attempt.ts'
import type { FindCandidates } from './candidates.ts'
import type { Claims } from './claims.ts'
import type { Errand, Rendered } from './provider.ts'
import type { Tell } from './reports.ts'

export interface DeliverParts {
  otps: Pick<Docs<OtpDoc>, 'get'>
  claims: Pick<Claims, 'find'>
  candidates: FindCandidates
  render(errand: Errand): Promise<Rendered>
  attempt: MakeAttempt
  tell: Tell
  clock: Clock
  log: Logger
  unknownWaitMs: number
}

/** Until an engine that was away may be back. */
const RETRY_MS = 1_000

export function delivering(parts: DeliverParts): (message: Delivered) => Promise<Outcome> {
  const { otps, claims, candidates, render, attempt, tell, clock, log, unknownWaitMs } = parts

  async function deliver({ otp_id, delivery_id }: DeliverBody, round: number): Promise<Outcome> {
    const doc = (await otps.get([otp_id])).get(otp_id)
    if (!doc) return done() // erased
    const { value, context: otp } = current(doc)
    const delivery = otp.deliveries.find(one => one.delivery_id === delivery_id)
    if (!delivery) return dead('the verification has no such delivery')
    const errand: Errand = { otp, delivery, purge_at: doc.purge_at }
    if (delivery.status !== 'queued') return receiptsAgain(errand)

    const status = statusAt(value, otp, clock.now())
    if (status !== 'pending') return drop(errand, `the verification is ${status}`)
    if (delivery.generation !== otp.generation) return drop(errand, 'a newer code was sent')
    const [first] = await candidates(errand)
    if (!first) return drop(errand, 'no provider of this channel can be called')
    return settle(errand, first, await attempt(first, await render(errand), round))
  }

  // One provider, one call. Breakers, the next provider and further rounds belong between an attempt and this.
  async function settle(errand: Errand, { provider }: Candidate, { result, at }: Attempt): Promise<Outcome> {
    if (result === 'accepted') {
      await tell(errand, 'sent')
      return provider.receipts?.(errand, at) ?? done()
    }
    const waitMs = at + unknownWaitMs - clock.now()
    // It may have gone. A receipt decides; the delivery is then no longer queued when we look again.
    if (result === 'unknown' && waitMs > 0) return retry(waitMs)
    await tell(errand, 'failed')
    return done()
  }

  /** The message was handed to a provider before, and the broker did not hear that we were done. */
  async function receiptsAgain(errand: Errand): Promise<Outcome> {
    for (const { name, provider } of await candidates(errand)) {
      if (!provider.receipts) continue
      const claim = await claims.find(errand, name)
      if (claim?.result === 'accepted') return provider.receipts(errand, claim.at)
    }
    return done()
  }

  /** Whoever waits for it is told; nothing is sent. */
  async function drop(errand: Errand, reason: string): Promise<Outcome> {
    const { otp_id, app_id } = errand.otp
    const { delivery_id, channel } = errand.delivery
    log.warn({ otp_id, app_id, delivery_id, channel, reason }, 'delivery.dropped')
    await tell(errand, 'failed')
    return done()
  }

  return async ({ body, attempt: round }) => {
    const asked = body as DeliverBody
    try {
      return await deliver(asked, round)
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const { otp_id, delivery_id } = asked
      log.warn({ err: error, otp_id, delivery_id }, 'delivery.postponed')
      return retry(RETRY_MS)
    }
  }
}
