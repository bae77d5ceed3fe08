// Sweeps of verifications and idempotency keys. In: partitions. Out: a small batch of due documents, postponed in the store and reminded
// of. The reminder is handled like any other command, by guards that check the clock, so a second reminder changes nothing.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import type { OtpReport } from '../../machines/reports.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { ClaimDoc } from '../domain/verifications/documents.ts'
import type { OutboxEntry } from '../domain/verifications/effect-messages.ts'
import { postponeDue, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface OtpSweepDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  /** Publishes the effects of a verification and removes them from its outbox. */
  relay(otp_id: string, effects: readonly OutboxEntry[]): void
  clock: Clock
  /** No other process uses the store, so all effects from before the start are those of a process that is gone. */
  soleProcess: boolean
}

/** A reminder is sent again after this time if the verification is still due. */
const REMIND_AGAIN_MS = 60_000
/** A live process publishes effects well within this time. */
const OUTBOX_STUCK_MS = 10_000
/** A claim whose verification exists is taken over only after it expires. Closer to that than this, it is changed only if it is as read. */
const CLAIM_EXPIRY_MARGIN_MS = 60_000
const RELEASE_CLAIM = { $unset: { held_until: true } } as const

export function createOtpSweeps({ store, broker, relay, clock, soleProcess }: OtpSweepDeps): Record<string, Sweep> {
  const beforeStart = soleProcess ? clock.now() - 1 : 0
  const [otps, claims] = [store.docs('otps'), store.docs('claims')]
  return {
    /** Verifications whose deadline has passed. */
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

    /** Effects that were saved and not published, or that were not removed from the outbox afterwards. */
    async outbox(partitions) {
      const [now, partition] = [clock.now(), { $in: [...partitions] }]
      const stuck = await otps.find(
        { partition, outbox_at: { $gt: 0, $lte: Math.max(beforeStart, now - OUTBOX_STUCK_MS) } },
        { sort: { partition: 1, outbox_at: 1 }, limit: SWEEP_BATCH },
      )
      await otps.update([{ ids: stuck.map(({ _id }) => _id), update: postponeOutbox(now) }])
      for (const { _id, outbox } of stuck) relay(_id, outbox)
      return stuck.length
    },

    /** Frees idempotency keys whose process died before it saved its verification. The other keys need no more sweeping. */
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

/** Only while the outbox has effects: one that was emptied since it was read must not become due again. */
const postponeOutbox = (now: number): Pipeline => [
  { $set: { outbox_at: { $cond: [{ $eq: [{ $size: '$outbox' }, 0] }, null, { $max: ['$outbox_at', now] }] } } },
]
