// How long things are kept. An app's `retention_days` decides about verifications and all that belongs to them; the rest is here.
import { DAY_MS } from '../../infra/time.ts'

/** For an app that is gone, or whose settings this release cannot read: a newer one may have written them. */
export const DEFAULT_RETENTION_DAYS = 30

/** An app's `retention_days` in milliseconds. */
export const retentionMs = (days: number): number => days * DAY_MS

/** An event that waits for its endpoint is kept at least this long, whatever the app's retention. */
export const MIN_EVENT_RETENTION_MS = 7 * DAY_MS

/** An event is kept this long after its last attempt, whatever the app's retention: its endpoint may be paused and enabled again. */
export const EVENT_RETENTION_AFTER_LAST_ATTEMPT_MS = 8 * DAY_MS

/** What the fraud guard knows of a country or a range of numbers. It looks back a week. */
export const FRAUD_TALLY_RETENTION_MS = 9 * DAY_MS
