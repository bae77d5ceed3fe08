// Reports the status of deliveries to the OTP actor. In: a delivery and its status. Out: a message on the durable queue `otp.reports`. The
// same report has the same id, so that publishing it again after a crash changes nothing.
import { randomUUID } from 'node:crypto'
import { createBatcher } from '../../infra/batcher.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import { withTrace } from '../../infra/trace.ts'
import type { ReportDetails, ReportedStatus } from '../../machines/otp.ts'
import type { OtpReport, ReportBundle } from '../domain/verifications/queue-messages.ts'
import type { DeliveryJob } from './provider.ts'

type ReportEntry = ReportBundle['all'][number]

/** Resolves once the broker has confirmed the report. `source` is part of the report's id and distinguishes several
 *  reports of one status. */
export type PublishReport = (
  job: Pick<DeliveryJob, 'otp' | 'delivery' | 'trace'>,
  status: ReportedStatus,
  details: ReportDetails & { unsubscribed?: string },
  source?: string,
) => Promise<void>

/** Reports of one tick share a message, because every message on a durable queue is written to several disks. */
const BATCHING = { maxSize: 64, parallel: Number.POSITIVE_INFINITY }

export function createPublishReport({
  broker,
  clock,
}: {
  broker: Pick<Broker, 'publish'>
  clock: Pick<Clock, 'now'>
}): PublishReport {
  const publish = createBatcher<ReportEntry, void>(async all => {
    const [first] = all
    // The id of a batch is random: two batches that begin with the same report are different messages.
    if (first && all.length === 1)
      await broker.publish('otp.reports', { id: first.id, body: first.report, ...withTrace(first.trace) })
    // Their traces are inside. The first one's is also the message's, so that it has a span.
    else
      await broker.publish('otp.reports', {
        id: randomUUID(),
        body: { type: 'reports', all } satisfies ReportBundle,
        ...withTrace(first?.trace),
      })
    return all.map(() => undefined)
  }, BATCHING)

  return async ({ otp: { otp_id }, delivery: { delivery_id }, trace }, status, details, source = status) => {
    const report: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at: clock.now(), ...details }
    await publish([{ id: `${delivery_id}:${source}`, report, ...withTrace(trace) }])
  }
}
