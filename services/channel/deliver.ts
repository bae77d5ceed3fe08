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
    if (status !== 'pending') return dropUnlessGone(errand, `the verification is ${status}`)
    if (delivery.generation !== otp.generation) return dropUnlessGone(errand, 'a newer code was sent')
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

  /** The latest call made for this delivery, when the broker hands over a message that was handled before. */
  async function calledBefore(errand: Errand): Promise<[Candidate, Attempt] | null> {
    let latest: [Candidate, Attempt] | null = null
    for (const candidate of await candidates(errand)) {
      const claim = await claims.find(errand, candidate.name)
      if (claim) latest = [candidate, { result: claim.result ?? 'unknown', at: claim.at }]
    }
    return latest
  }

  /** The news is out, but the broker did not hear that we were done. */
  async function receiptsAgain(errand: Errand): Promise<Outcome> {
    const before = await calledBefore(errand)
    if (before?.[1].result !== 'accepted') return done()
    const [{ provider }, { at }] = before
    return provider.receipts?.(errand, at) ?? done()
  }

  /** What may be with the recipient by now did not fail for coming too late. */
  async function dropUnlessGone(errand: Errand, reason: string): Promise<Outcome> {
    const before = await calledBefore(errand)
    return before ? settle(errand, ...before) : drop(errand, reason)
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
