// Sweeps of webhooks. In: partitions. Out: reminders of events whose message was lost or whose call did not end, and of backlogs that no
// process drains. Events of a paused endpoint are not due: enabling the endpoint sends them.
import type { Clock } from '../../infra/clock.ts'
import { MINUTE_MS } from '../../infra/time.ts'
import type { CountersignStore } from '../domain/collections.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import { refOf } from '../domain/webhooks/endpoint-ids.ts'
import { type AttemptReminder, attemptMessage, drainMessage, type Remind } from '../domain/webhooks/queue-messages.ts'
import { byOneProcess, findDue, postponeDue, SWEEP_BATCH, type Sweep } from './sweep.ts'

export interface WebhookSweepDeps {
  store: CountersignStore
  remind: Remind
  clock: Clock
}

/** Reminders pile up in the queue while no webhook actor runs, so they are sent seldom. */
const REMIND_AGAIN_MS = 5 * MINUTE_MS
/** Shorter than the time ahead that services/webhook/backlogs.ts gives its marks, so that the two are never equal. */
const REMIND_DRAIN_AGAIN_MS = 10_000

export function createWebhookSweeps({ store, remind, clock }: WebhookSweepDeps): Record<string, Sweep> {
  const [events, webhooks] = [store.docs('events'), store.docs('webhooks')]
  return {
    async events(partitions) {
      const now = clock.now()
      const due = await findDue(events, partitions, 'due_at', now)
      await events.update([{ ids: due.map(({ _id }) => _id), update: postponeDue(now + REMIND_AGAIN_MS) }])
      for (const event of due) remind(attemptMessage(dueAttempt(event, now)))
      return due.length
    },

    backlogs: byOneProcess(async () => {
      const now = clock.now()
      const due = await webhooks.find(
        { drain_at: { $gt: 0, $lte: now } },
        { sort: { drain_at: 1 }, limit: SWEEP_BATCH },
      )
      const mark = now + REMIND_DRAIN_AGAIN_MS
      await Promise.all(
        due.map(async ({ _id, drain_at = 0 }) => {
          const marked = await webhooks.modify({ _id, drain_at }, { $set: { drain_at: mark } })
          if (marked) remind(drainMessage(refOf(marked), now, mark))
        }),
      )
      return due.length
    }),
  }
}

/** The next attempt, or the one under way, whose process may have died. */
function dueAttempt(event: EventDoc, now: number): AttemptReminder {
  const { _id: event_id, app_id, round, tries, attempt_started_at, next_attempt_at = now } = event
  const attempt = attempt_started_at === undefined ? tries + 1 : tries
  return { event_id, app_id, round, attempt, at: next_attempt_at }
}
