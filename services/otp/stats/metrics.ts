// Measures verifications for Prometheus. In: every saved change. Out: counters and times by mode, channel and type of
// provider. The name of a provider is no label, because each app chooses its own.
import type { Cache } from '../../../infra/cache.ts'
import type { Metrics } from '../../../infra/metrics.ts'
import type { Channel } from '../../../machines/channels.ts'
import { isEnded, isMessage } from '../../../machines/otp.queries.ts'
import type { Delivery, Mode, Otp } from '../../../machines/otp.ts'
import type { OtpEnd } from '../../../machines/webhook-events.ts'
import type { OtpDoc } from '../../domain/verifications/documents.ts'
import type { CachedApp } from '../apps.ts'

export interface VerificationMetricsDeps {
  metrics: Metrics
  apps: Pick<Cache<CachedApp | null>, 'get'>
}

const NO_PROVIDER = 'none'
/** The provider is not there any more, or its app cannot be read now. */
const UNKNOWN_PROVIDER = 'unknown'

export function createVerificationMetrics({ metrics, apps }: VerificationMetricsDeps) {
  const ended = {
    approved: metrics.verificationsApproved,
    failed: metrics.verificationsFailed,
    expired: metrics.verificationsExpired,
    canceled: metrics.verificationsCanceled,
  }

  function countEnd(status: OtpEnd, mode: Mode, otp: Otp): void {
    const labels = { mode, channel: otp.approval?.channel ?? otp.channel }
    ended[status].inc(labels)
    if (otp.approval !== null) metrics.approvalDuration.observe(labels, seconds(otp.first_sent_at, otp.approval.at))
  }

  async function countDelivery(app_id: string, mode: Mode, delivery: Delivery): Promise<void> {
    const { channel, status, created_at, updated_at } = delivery
    const provider = await providerType(app_id, mode, delivery)
    metrics.deliveries.inc({ mode, channel, provider, status })
    if (status === 'delivered')
      metrics.deliveryDuration.observe({ mode, channel, provider }, seconds(created_at, updated_at))
  }

  async function providerType(app_id: string, mode: Mode, { provider }: Delivery): Promise<string> {
    if (mode === 'test') return 'sandbox'
    if (provider === undefined) return NO_PROVIDER
    const app = await apps.get(app_id).catch(() => null)
    return app?.providerTypes.get(provider) ?? UNKNOWN_PROVIDER
  }

  return {
    /** `before` is null for a new verification. */
    onChange(before: OtpDoc | null, after: OtpDoc): void {
      const { app_id, mode, value, context: otp } = after
      if (!isMessage(otp)) {
        if (before === null) metrics.verificationsStarted.inc({ mode, channel: firstChannel(otp) })
        // The cast is safe: only a message is `delivered`.
        if (value !== 'pending' && before?.value !== value) countEnd(value as OtpEnd, mode, otp)
      }
      for (const delivery of newlyEnded(before?.context.deliveries ?? [], otp.deliveries))
        void countDelivery(app_id, mode, delivery)
    },
  }
}

const firstChannel = (otp: Otp): Channel => otp.tried[0] ?? otp.channel

const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1000

/** Deliveries keep their places, and one that a change does not concern stays the same object. */
const newlyEnded = (before: readonly Delivery[], after: readonly Delivery[]): Delivery[] =>
  before === after ? [] : after.filter((delivery, at) => delivery !== before[at] && isEnded(delivery))
