// Sweeps of verifications. In: partitions. Out: a small batch of due documents, postponed in the store and reminded of. The reminder
// is handled like any other command, by guards that check the clock, so a second reminder changes nothing.
import type { Broker } from '../../infra/broker/broker.ts'
import type { Clock } from '../../infra/clock.ts'
import type { Pipeline } from '../../infra/store/docs.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { Relay } from '../domain/verifications/outbox.ts'
import type { OtpReport } from '../domain/verifications/queue-messages.ts'
import { findDue, postponeDue, type Sweep } from './sweep.ts'

export interface OtpSweepDeps {
  store: CountersignStore
  broker: Pick<Broker, 'publish'>
  relay: Pick<Relay, 'publish'>
  clock: Clock
  /** No other process uses the store, so all effects from before the start are those of a process that is gone. */
  soleProcess: boolean
}

/** A reminder is sent again after this time if the verification is still due. */
const REMIND_AGAIN_MS = 60_000
/** A live process publishes effects well within this time. */
const OUTBOX_STUCK_MS = 10_000

export function createOtpSweeps({ store, broker, relay, clock, soleProcess }: OtpSweepDeps): Record<string, Sweep> {
  const beforeStart = soleProcess ? clock.now() - 1 : 0
  const otps = store.docs('otps')
  return {
    /** Verifications whose deadline has passed. */
    async expiry(partitions) {
      const now = clock.now()
      const due = await findDue(otps, partitions, 'due_at', now)
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
      const now = clock.now()
      const stuck = await findDue(otps, partitions, 'outbox_at', Math.max(beforeStart, now - OUTBOX_STUCK_MS))
      await otps.update([{ ids: stuck.map(({ _id }) => _id), update: postponeOutbox(now) }])
      for (const { _id, outbox } of stuck) relay.publish(_id, outbox)
      return stuck.length
    },
  }
}

/** Only while the outbox has effects: one that was emptied since it was read must not become due again. */
const postponeOutbox = (now: number): Pipeline => [
  { $set: { outbox_at: { $cond: [{ $eq: [{ $size: '$outbox' }, 0] }, null, { $max: ['$outbox_at', now] }] } } },
]
