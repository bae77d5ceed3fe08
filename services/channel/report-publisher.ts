// News of a delivery for the OTP actor, through its durable queue. The same news has the same id, so that telling it again after a
// crash changes nothing.
import { randomUUID } from 'node:crypto'
import { createBatcher } from '../../infra/batcher.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { ReportedStatus } from '../../machines/otp.ts'
import type { OtpReport, OtpReports } from '../../machines/reports.ts'
import type { DeliveryJob } from './provider.ts'

type ReportEntry = OtpReports['all'][number]

/** Resolves once the news is safe. `source` tells apart what several say of one delivery. */
export type PublishReport = (
  job: Pick<DeliveryJob, 'otp' | 'delivery'>,
  status: ReportedStatus,
  source?: string,
) => Promise<void>

/** A busy channel has a lot of news in one tick; every message on a durable queue is written to several disks. */
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
    // A bundle has an id nobody else has: one that shares a piece of news with another is another bundle.
    if (first && all.length === 1) await broker.publish('otp.reports', { id: first.id, body: first.report })
    else await broker.publish('otp.reports', { id: randomUUID(), body: { type: 'reports', all } satisfies OtpReports })
    return all.map(() => undefined)
  }, BATCHING)

  return async ({ otp: { otp_id }, delivery: { delivery_id } }, status, source = status) => {
    const report: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at: clock.now() }
    await publish([{ id: `${delivery_id}:${source}`, report }])
  }
}
