// How long documents are kept. Verifications, what belongs to them and decisions of the fraud guard are kept for the
// app's `retention_days`, those of test mode for three days at most; webhook events too, but at least for the times
// here; tallies of the fraud guard and statistics for the times here. The actor that writes a document sets its
// `purge_at`, and the store removes it then; services/sweeper/retention.ts removes what is older than a retention that
// was shortened since. Counters (services/otp/limits/counters.ts), claims (services/otp/calls/idempotency-claims.ts)
// and blocks of numbers (services/otp/fraud/counts.ts) have their times beside their code.
import { DAY_MS } from '../../infra/time.ts'
import type { Mode } from '../../machines/otp.ts'
import type { AppSettings } from '../../machines/settings.ts'

/** For an app that was deleted, or whose settings this process cannot read, because a newer version wrote them. */
const DEFAULT_RETENTION_DAYS = 30

/** Test data serves no one for longer, and developers test with numbers and addresses of real people. */
export const MAX_TEST_RETENTION_DAYS = 3

/** No app keeps its verifications for less. */
export const MIN_RETENTION_MS = DAY_MS

/** How long data of an app's mode is kept. `settings`: null for an app that was deleted or cannot be read. */
export function retentionMs(settings: Pick<AppSettings, 'retention_days'> | null, mode: Mode): number {
  const days = settings?.retention_days ?? DEFAULT_RETENTION_DAYS
  return (mode === 'test' ? Math.min(days, MAX_TEST_RETENTION_DAYS) : days) * DAY_MS
}

/** An event that waits for its endpoint is kept at least this long, even if the app's retention is shorter. */
export const MIN_EVENT_RETENTION_MS = 7 * DAY_MS

/** An event is kept this long after its last attempt, even if the app's retention is shorter: a paused endpoint may be enabled again. */
export const EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS = 8 * DAY_MS

/** Entries of the journal of erasures: they are needed as long as a backup may be restored that is older than they are. */
export const ERASURE_ENTRY_RETENTION_MS = 400 * DAY_MS

/** An app or company can be deleted this long after it was closed, so that one that was closed in error can be reopened. */
export const DELETABLE_AFTER_MS = 30 * DAY_MS

/** Refused sends and resends; those with a recipient no longer than the app's retention. */
export const REFUSAL_RETENTION_MS = 7 * DAY_MS

/** The rule of a recipient who asked for messages again: vendors repeat the callback with the STOP of before for some days. */
export const LIFTED_RULE_RETENTION_MS = 14 * DAY_MS

/** Tallies of the fraud guard, which looks back a week. */
export const FRAUD_TALLY_RETENTION_MS = 9 * DAY_MS

/** Statistics. The hours of the last month can be compared, and the days of the last year. */
export const STATS_HOUR_RETENTION_MS = 40 * DAY_MS
export const STATS_DAY_RETENTION_MS = 400 * DAY_MS
