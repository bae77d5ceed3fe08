// The channel actor. In: a message of the channel's queue that names a delivery. Out: an outcome for the broker, and a report to the OTP
// actor once a provider has accepted the delivery or none will. The verification is read again before every provider call, because it
// may have ended since the message was queued.
import { type DeliveredMessage, dead, done, type Outcome, retry, unreadable } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import {
  createMissingKeyReporter,
  isMissingKeyError,
  MISSING_KEY_RETRY_MS,
  type MissingKeyError,
} from '../../infra/crypto/missing-key-reporter.ts'
import type { Logger } from '../../infra/log/log.ts'
import type { Docs, ReadOptions } from '../../infra/store/docs.ts'
import { requestOf, type Traced, withTrace } from '../../infra/trace.ts'
import { Unavailable } from '../../infra/unavailable.ts'
import { statusAt } from '../../machines/otp.queries.ts'
import type { Delivery, OtpStatus } from '../../machines/otp.ts'
import { toCurrentVersion } from '../../machines/otp.versions.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { type ApprovalNoticeBody, type DeliverBody, isChannelMessage } from '../domain/verifications/effect-messages.ts'
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

/** How long the broker keeps a message when the store or the broker itself is away. */
const UNAVAILABLE_RETRY_MS = 1_000

export function createDeliver({
  otps,
  failover,
  sendApprovalReply,
  clock,
  log,
}: DeliverDeps): (message: DeliveredMessage) => Promise<Outcome> {
  const reportMissingKey = createMissingKeyReporter({ log, clock })

  /** Null when the verification is missing, and, unless the read is certain, when its delivery is: a primary of the store that was cut off
   *  may answer from before they were saved. */
  async function find(
    otp_id: string,
    delivery_id: string,
    options: ReadOptions = {},
  ): Promise<{ doc: OtpDoc; delivery: Delivery | undefined } | null> {
    const doc = (await otps.get([otp_id], options)).get(otp_id)
    if (!doc) return null
    const delivery = toCurrentVersion(doc).context.deliveries.find(one => one.delivery_id === delivery_id)
    return delivery || options.certain ? { doc, delivery } : null
  }

  async function deliver({ otp_id, delivery_id, live }: DeliverBody, message: DeliveredMessage): Promise<Outcome> {
    const busyRetry = live && (await failover.retryIfBusy(live))
    if (busyRetry) return busyRetry
    const run = failover.startRun(message)
    for (;;) {
      const found = (await find(otp_id, delivery_id)) ?? (await find(otp_id, delivery_id, { certain: true }))
      if (found === null) return done() // erased
      const { doc, delivery } = found
      if (!delivery) return dead('the verification has no such delivery')
      const { value, context: otp } = toCurrentVersion(doc)
      const job: DeliveryJob = { otp, delivery, purge_at: doc.purge_at, ...withTrace(message.trace) }
      if (delivery.status !== 'queued') return failover.repeatReceipts(job)
      const outcome = await failover.advance(job, isStale(job, statusAt(value, otp, clock.now())), run)
      if (outcome) return outcome
    }
  }

  /** A delivery waits for the key until its verification ends. The approval reply does not wait: it is a courtesy. */
  function handleMissingKey(
    error: MissingKeyError,
    request: DeliverBody | ApprovalNoticeBody,
    message: Traced,
  ): Outcome {
    reportMissingKey(error, { otp_id: request.otp_id, ...requestOf(message) })
    return 'approved' in request ? done() : retry(MISSING_KEY_RETRY_MS)
  }

  return async message => {
    const request = message.body
    if (!isChannelMessage(request)) return unreadable('not a delivery')
    try {
      return await ('approved' in request ? sendApprovalReply(request, message.trace) : deliver(request, message))
    } catch (error) {
      if (isMissingKeyError(error)) return handleMissingKey(error, request, message)
      if (!(error instanceof Unavailable)) throw error
      log.warn({ ...requestOf(message), ...request, err: error }, 'delivery.postponed')
      return retry(UNAVAILABLE_RETRY_MS)
    }
  }
}

/** The verification has ended, or a newer code was sent. */
const isStale = ({ otp, delivery }: DeliveryJob, status: OtpStatus): boolean =>
  status !== 'pending' || delivery.generation !== otp.generation
