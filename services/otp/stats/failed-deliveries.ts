// Logs why deliveries fail. In: a verification before and after a change that was saved. Out: one line for each delivery that this change
// marked as failed. A failure is final, so a delivery has one line at most, also when its report comes twice.
import type { Logger } from '../../../infra/log/log.ts'
import { requestOf, type Trace } from '../../../infra/trace.ts'
import type { Delivery, FailureReason } from '../../../machines/otp.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'

/** A wrong number, and a code that is no longer wanted, are part of every day. The others ask for an operator. */
const EVERYDAY_REASONS: ReadonlySet<FailureReason | undefined> = new Set(['recipient_unreachable', 'superseded'])

export const createLogFailedDeliveries =
  (log: Logger) =>
  (
    { context: before }: OtpDoc,
    { _id: otp_id, app_id, mode, context: after }: OtpDoc,
    trace: Trace | undefined,
  ): void => {
    // The machine keeps the list when it changes no delivery.
    if (before.deliveries === after.deliveries) return
    for (const [nth, { delivery_id, channel, status, provider, reason, vendor_code }] of after.deliveries.entries()) {
      if (status !== 'failed' || hasFailed(before.deliveries[nth])) continue
      const delivery = { delivery_id, channel, provider, reason, vendor_code }
      const fields = { ...requestOf({ trace }), otp_id, app_id, mode, ...delivery }
      log[EVERYDAY_REASONS.has(reason) ? 'info' : 'warn'](fields, 'delivery.failed')
    }
  }

const hasFailed = (delivery: Delivery | undefined): boolean => delivery?.status === 'failed'
