// News of a delivery for the OTP actor, through its durable queue. The same news has the same id, so that telling it again after a
// crash changes nothing.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Report } from '../../machines/otp.ts'
import type { OtpReport } from '../../machines/reports.ts'
import type { Errand } from './provider.ts'

/** Resolves once the news is safe. `source` tells apart what several say of one delivery. */
export type Tell = (errand: Pick<Errand, 'otp' | 'delivery'>, status: Report, source?: string) => Promise<void>

export const telling =
  ({ broker, clock }: { broker: Pick<Broker, 'publish'>; clock: Pick<Clock, 'now'> }): Tell =>
  ({ otp: { otp_id }, delivery: { delivery_id } }, status, source = status) => {
    const body: OtpReport = { type: 'delivery.reported', otp_id, delivery_id, status, at: clock.now() }
    return broker.publish('otp.reports', { id: `${delivery_id}:${source}`, body })
  }
