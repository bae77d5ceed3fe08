// Deliveries that an accepted send still owes: those that are `queued`. The broker has a message for each. Should the broker lose it, or
// bury it as a dead letter, the sweeper finds the delivery by `owed_at` and publishes its message again.
import type { Otp } from '../../../machines/otp.ts'

/** Nearly all deliveries are sent long before: then the sweeper has nothing to look at. It is longer than the waits of a usual retry. */
export const LOOK_AFTER_MS = 20_000

export const owesDelivery = ({ deliveries }: Pick<Otp, 'deliveries'>): boolean =>
  deliveries.some(({ status }) => status === 'queued')

/** When the sweeper first looks at a verification whose delivery was queued at this time. */
export const firstLookAt = (at: number): number => at + LOOK_AFTER_MS
