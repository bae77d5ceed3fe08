// What is stored of statistics: counts by app, mode and hour, and by day once all hours of the day are final. There are no ids of
// verifications and no recipients in them.
import type { RevisedDoc } from '../../../infra/store/docs.ts'
import { collection, idsUnder, type StoreOf } from '../../../infra/store/store.ts'
import type { Mode } from '../../../machines/otp.ts'
import type { Dimension } from './contribution.ts'
import type { StoredCells } from './counts.ts'

/** In micro-units. It does not say by provider: which one took a message is known hours later. */
export interface Spend {
  /** The last entry of the ledger that is counted here, so that each is counted once, however often it is read. */
  seq: number
  channel: Record<string, number>
  country: Record<string, number>
}

/** One app's and mode's hour or day. */
export interface StatsDoc extends RevisedDoc {
  app_id: string
  mode: Mode
  /** When the hour or day begins. */
  start: number
  /** A document of a release without a dimension lacks it. */
  by: Partial<Record<Dimension, StoredCells>>
  /** Counts of learned routes; absent in days, and in hours of releases that did not count them. */
  routes?: StoredCells
  /** Refused sends by country. They have no verification, so nothing can count them again. */
  refused: Record<string, number>
  /** What messages cost, less what was given back; absent before the first entry. Counted from the ledger alone. */
  spend?: Spend
  /** Set when verifications of the hour were erased: it cannot be counted again, and keeps what was counted. */
  erased?: true
  purge_at: Date
}

/** How far the sweeper has come, see services/sweeper/stats.ts. */
export interface StatsProgressDoc extends RevisedDoc {
  /** The first hour that is not counted again yet. */
  next_hour: number
  /** The first day without a document of its own: it is summed from its hours. */
  next_day: number
}

export const PROGRESS_ID = 'progress'

const idOf = (app_id: string, mode: Mode, time: string): string => `${app_id}:${mode}:${time}`

const isoHour = (start: number): string => new Date(start).toISOString().slice(0, 13)
const isoDay = (start: number): string => new Date(start).toISOString().slice(0, 10)

export const hourId = (app_id: string, mode: Mode, start: number): string => idOf(app_id, mode, isoHour(start))
export const dayId = (app_id: string, mode: Mode, start: number): string => idOf(app_id, mode, isoDay(start))

export const STATS_COLLECTIONS = {
  stats_hours: collection<StatsDoc>({
    belongsTo: [{ to: 'apps', ofOwner: idsUnder }],
    indexes: [{ fields: { start: 1 } }],
    purged: true,
  }),
  stats_days: collection<StatsDoc>({ belongsTo: [{ to: 'apps', ofOwner: idsUnder }], indexes: [], purged: true }),
  stats_progress: collection<StatsProgressDoc>({ belongsTo: [{ to: null, why: 'of the deployment' }], indexes: [] }),
}

export type StatsStore = StoreOf<typeof STATS_COLLECTIONS>
