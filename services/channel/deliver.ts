// The channel actor. In: "deliver this". Out: a provider took it, or none would, and the OTP actor was told which. It decides by the
// verification as it is now, not as it was when the message was written, and looks again before every call.
import { type DeliveredMessage, dead, done, type Outcome, retry } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
  type MissingKeyError,
} from '../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs } from '../../infra/store/docs.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { statusAt } from '../../machines/otp.queries.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import type { ApprovalNoticeBody, DeliverBody } from '../domain/verifications/effect-messages.ts'
import type { SendApprovalReply } from './approval-reply.ts'
import type { Failover } from './failover.ts'
import type { DeliveryJob } from './provider.ts'

export interface DeliverDeps {
  otps: Pick<Docs<OtpDoc>, 'get'>
  failover: Failover
  sendApprovalReply: SendApprovalReply
  clock: Clock
  log: Logger
}

/** Until an engine that was away may be back. */
const UNAVAILABLE_RETRY_MS = 1_000

export function createDeliver({
  otps,
  failover,
  sendApprovalReply,
  clock,
  log,
}: DeliverDeps): (message: DeliveredMessage) => Promise<Outcome> {
  const reportMissingKey = createMissingKeyReporter({ log, clock })

  async function deliver({ otp_id, delivery_id, live }: DeliverBody, attempt: number): Promise<Outcome> {
    const busy = live && (await failover.giveBackIfBusy(live))
    if (busy) return busy
    const run = failover.startRun(attempt)
    for (;;) {
      const doc = (await otps.get([otp_id])).get(otp_id)
      if (!doc) return done() // erased
      const { value, context: otp } = toCurrentVersion(doc)
      const delivery = otp.deliveries.find(one => one.delivery_id === delivery_id)
      if (!delivery) return dead('the verification has no such delivery')
      const job: DeliveryJob = { otp, delivery, purge_at: doc.purge_at }
      if (delivery.status !== 'queued') return failover.repeatReceipts(job)
      const status = statusAt(value, otp, clock.now())
      const staleReason =
        status !== 'pending'
          ? `the verification is ${status}`
          : delivery.generation !== otp.generation
            ? 'a newer code was sent'
            : null
      const outcome = await failover.advance(job, staleReason, run)
      if (outcome) return outcome
    }
  }

  /** It waits for the key as long as the verification lives, and fails with it. A word of thanks waits for nothing. */
  function handleMissingKey(error: MissingKeyError, request: DeliverBody | ApprovalNoticeBody): Outcome {
    reportMissingKey(error, { otp_id: request.otp_id })
    return 'approved' in request ? done() : retry(MISSING_KEY_RETRY_MS)
  }

  return async ({ body, attempt }) => {
    const request = body as DeliverBody | ApprovalNoticeBody
    try {
      return await ('approved' in request ? sendApprovalReply(request) : deliver(request, attempt))
    } catch (error) {
      if (isMissingKeyError(error)) return handleMissingKey(error, request)
      if (!(error instanceof Unavailable)) throw error
      log.warn({ err: error, ...request }, 'delivery.postponed')
      return retry(UNAVAILABLE_RETRY_MS)
    }
  }
}
