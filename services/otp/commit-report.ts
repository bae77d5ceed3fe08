// Commits the change that a report asks for, where the broker keeps the report until it is settled. Its webhook events need no place in the
// outbox then: they are published here, before the report is settled. When the process dies before that, the report comes again, and its
// events with it. In: as for a commit. Out: the same; rejects when an event cannot be published.
import type { BoundedMap } from '../../infra/bounded-map.ts'
import type { Broker } from '../../infra/broker/broker.ts'
import type { RememberedCommand } from '../../machines/otp.versions.ts'
import type { OtpDoc } from '../domain/verifications/documents.ts'
import { messageIn } from '../domain/verifications/outbox.ts'
import type { Commit } from './commit.ts'

export interface CommitReportDeps {
  commit: Commit
  publisher: Pick<Broker, 'publish'>
  recentOtps: Pick<BoundedMap<OtpDoc>, 'get' | 'set'>
}

export function createCommitReport({ commit, publisher, recentOtps }: CommitReportDeps): Commit {
  /** The next write of this process then leaves them out. */
  function forgetPublished(otp_id: string, ids: readonly string[]): void {
    const recent = recentOtps.get(otp_id)
    if (!recent) return
    const isPublished = ({ events = [] }: RememberedCommand) => events.some(({ id }) => ids.includes(id))
    const last_commands = recent.last_commands.map(one => (isPublished(one) ? { id: one.id, reply: one.reply } : one))
    recentOtps.set(otp_id, { ...recent, last_commands })
  }

  return async (otp_id, owner, intent) => {
    const committed = await commit(otp_id, owner, { ...intent, comesAgain: true })
    if (committed === null || 'refusal' in committed || committed.unpublished.length === 0) return committed
    await Promise.all(committed.unpublished.map(event => publisher.publish(event.queue, messageIn(event))))
    forgetPublished(
      otp_id,
      committed.unpublished.map(({ id }) => id),
    )
    return committed
  }
}
