// What is due, one share of it at a time. Each sweep takes a small batch, marks it as seen to, and sends a reminder; whatever the
// reminder leads to happens in the one handler, where guards look at the clock themselves. Done twice, it changes nothing. Where a batch
// is marked, it shares one update, which makes it one statement.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import type { OtpReport } from '../../machines/reports.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { ClaimDoc } from '../domain/verifications/documents.ts'
import type { Relay } from '../domain/verifications/outbox.ts'

export interface OtpSweepDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  relay: Relay
  clock: Clock
}

/** In: the shares to look at, all in one question, since most of the time there is nothing due in any. Out: how many rows it saw
 *  to; a full batch means there may be more. */
export type Sweep = (partitions: readonly number[]) => Promise<number>

export const SWEEP_BATCH = 200
/** A reminder that came to nothing is sent again after this. */
const REMIND_AGAIN_MS = 60_000
/** Effects are published within moments of their save; what is still there was left behind. */
const OUTBOX_STUCK_MS = 10_000
/** Nobody takes over a claim whose verification is there before it expires; near that, only what is still as it was found is touched. */
const CLAIM_EXPIRY_MARGIN_MS = 60_000
const RELEASE_CLAIM = { $unset: { held_until: true } } as const

export function createOtpSweeps({ store, broker, relay, clock }: OtpSweepDeps): Record<string, Sweep> {
  const [otps, claims] = [store.docs('otps'), store.docs('claims')]
  return {
    /** Verifications whose time is up. */
    async expiry(partitions) {
      const [now, partition] = [clock.now(), { $in: [...partitions] }]
      const due = await otps.find(
        { partition, due_at: { $gt: 0, $lte: now } },
        { sort: { partition: 1, due_at: 1 }, limit: SWEEP_BATCH },
      )
      await otps.update([{ ids: due.map(({ _id }) => _id), update: postponeDue(now + REMIND_AGAIN_MS) }])
      await Promise.all(
        due.map(({ _id: otp_id, due_at }) => {
          const reminder: OtpReport = { type: 'otp.due', otp_id }
          return broker.publish('otp.reports', { id: `${otp_id}:due:${due_at}`, body: reminder })
        }),
      )
      return due.length
    },

    /** Effects that were saved and never published, or whose publishing was never noted. */
    async outbox(partitions) {
      const [now, partition] = [clock.now(), { $in: [...partitions] }]
      const stuck = await otps.find(
        { partition, outbox_at: { $gt: 0, $lte: now - OUTBOX_STUCK_MS } },
        { sort: { partition: 1, outbox_at: 1 }, limit: SWEEP_BATCH },
      )
      await otps.update([{ ids: stuck.map(({ _id }) => _id), update: postponeOutbox(now) }])
      for (const { _id, outbox } of stuck) relay(_id, outbox)
      return stuck.length
    },

    /** Idempotency keys whose holder died before its verification was there: free again. The others are done with. */
    async claims(partitions) {
      const [now, partition] = [clock.now(), { $in: [...partitions] }]
      const overdue = await claims.find(
        { partition, held_until: { $gt: 0, $lte: now } },
        { sort: { partition: 1, held_until: 1 }, limit: SWEEP_BATCH },
      )
      const existingOtps = await otps.get(overdue.map(({ otp_id }) => otp_id))
      const isBound = ({ otp_id, expires_at }: ClaimDoc) =>
        existingOtps.has(otp_id) && expires_at > now + CLAIM_EXPIRY_MARGIN_MS
      await claims.update([{ ids: overdue.filter(isBound).map(({ _id }) => _id), update: RELEASE_CLAIM }])
      await Promise.all(
        overdue
          .filter(claim => !isBound(claim))
          .map(({ _id, otp_id, held_until }) => {
            const seen = { _id, otp_id, held_until: held_until ?? 0 }
            return existingOtps.has(otp_id) ? claims.modify(seen, RELEASE_CLAIM) : claims.remove(seen, 1)
          }),
      )
      return overdue.length
    },
  }
}

/** Only while it is due: one that ended since it was found must not become due for ever. */
export const postponeDue = (until: number): Pipeline => [
  { $set: { due_at: { $cond: [{ $gt: ['$due_at', 0] }, { $max: ['$due_at', until] }, '$$REMOVE'] } } },
]

/** Only while there is something in it, for the same reason. */
const postponeOutbox = (now: number): Pipeline => [
  { $set: { outbox_at: { $cond: [{ $eq: [{ $size: '$outbox' }, 0] }, null, { $max: ['$outbox_at', now] }] } } },
]
