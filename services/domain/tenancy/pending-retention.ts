// A shorter `retention_days` erases for good, so it is in force a day after it was asked for: an owner who did not want it has time to
// undo it. In: an app as it is stored, and a time. Out: its settings at that time; or, of settings that are asked for, what is to be
// stored. Nothing happens at the moment itself: what is in force follows from the stored time, wherever it is read. Pure.
import { DAY_MS } from '../../../infra/time.ts'
import type { App, PendingRetention } from './documents.ts'
import { resolveSettings, type SettingsInput } from './settings.ts'

export const SHORTER_RETENTION_AFTER_MS = DAY_MS

type Stored = Pick<App, 'settings' | 'pending_retention'>

/** Null where nothing is pending, or is in force by now. */
export const pendingRetention = ({ pending_retention }: Stored, now: number): PendingRetention | null =>
  pending_retention && now < pending_retention.effective_at ? pending_retention : null

/** The settings in force. */
export const settingsAt = (stored: Stored, now: number): SettingsInput =>
  pendingRetention(stored, now) === null ? askedSettings(stored) : stored.settings

/** The settings that were asked for last: a change of other settings leaves what is pending. */
export const askedSettings = ({ settings, pending_retention }: Stored): SettingsInput =>
  pending_retention ? { ...settings, retention_days: pending_retention.retention_days } : settings

const retentionDaysOf = ({ retention_days }: SettingsInput): number =>
  resolveSettings({ retention_days }).retention_days

/** What is stored when these settings are asked for in place of those that were. A retention that is not shorter than the one in force
 *  undoes one that is pending; the pending one, asked for again, keeps its time. */
export function storedSettings(stored: Stored, asked: SettingsInput, now: number): Required<Stored> {
  const inForce = settingsAt(stored, now)
  const days = retentionDaysOf(asked)
  if (days >= retentionDaysOf(inForce)) return { settings: asked, pending_retention: null }
  const { retention_days: _, ...others } = asked
  const before = inForce.retention_days === undefined ? {} : { retention_days: inForce.retention_days }
  const pending = pendingRetention(stored, now)
  return {
    settings: { ...others, ...before },
    pending_retention:
      pending?.retention_days === days
        ? pending
        : { retention_days: days, effective_at: now + SHORTER_RETENTION_AFTER_MS },
  }
}
