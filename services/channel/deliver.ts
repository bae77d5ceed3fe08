// The channel actor. In: "deliver this". Out: a provider took it, or none would, and the OTP actor was told which. It decides by the
// verification as it is now, not as it was when the message was written, and looks again before every call.
import { type Delivered, dead, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import { isKeyProblem, KEY_AWAITED_MS, type KeyProblem, tellingUnopened } from '../../infra/crypto/unopened.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { current } from '../../machines/otp.versions.ts'
import { statusAt } from '../../machines/rules.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { DeliverBody, ThankBody } from '../domain/verifications/effect-messages.ts'
import type { Carry } from './carry.ts'
import type { Errand } from './provider.ts'
import type { Thank } from './thanks.ts'

export interface DeliverParts {
  otps: Pick<Docs<OtpDoc>, 'get'>
  carry: Carry
  thank: Thank
  clock: Clock
  log: Logger
}

/** Until an engine that was away may be back. */
const RETRY_MS = 1_000

export function delivering({ otps, carry, thank, clock, log }: DeliverParts): (message: Delivered) => Promise<Outcome> {
  const unopened = tellingUnopened({ log, clock })

  async function deliver({ otp_id, delivery_id, live }: DeliverBody, attempt: number): Promise<Outcome> {
    const crowded = live && (await carry.crowded(live))
    if (crowded) return crowded
    const journey = carry.begin(attempt)
    for (;;) {
      const doc = (await otps.get([otp_id])).get(otp_id)
      if (!doc) return done() // erased
      const { value, context: otp } = current(doc)
      const delivery = otp.deliveries.find(one => one.delivery_id === delivery_id)
      if (!delivery) return dead('the verification has no such delivery')
      const errand: Errand = { otp, delivery, purge_at: doc.purge_at }
      if (delivery.status !== 'queued') return carry.receiptsAgain(errand)
      const status = statusAt(value, otp, clock.now())
      const stale =
        status !== 'pending'
          ? `the verification is ${status}`
          : delivery.generation !== otp.generation
            ? 'a newer code was sent'
            : null
      const outcome = await carry.onward(errand, stale, journey)
      if (outcome) return outcome
    }
  }

  /** It waits for the key as long as the verification lives, and fails with it. A word of thanks waits for nothing. */
  function keyIsGone(error: KeyProblem, asked: DeliverBody | ThankBody): Outcome {
    unopened(error, { otp_id: asked.otp_id })
    return 'approved' in asked ? done() : retry(KEY_AWAITED_MS)
  }

  return async ({ body, attempt }) => {
    const asked = body as DeliverBody | ThankBody
    try {
      return await ('approved' in asked ? thank(asked) : deliver(asked, attempt))
    } catch (error) {
      if (isKeyProblem(error)) return keyIsGone(error, asked)
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, ...asked }, 'delivery.postponed')
      return retry(RETRY_MS)
    }
  }
}
