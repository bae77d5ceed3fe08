// Histories and facts of routes for tests. Times count from MIDNIGHT, the start of a UTC day and so of an hour and a slot.
import {
  ROUTE_SLOT_MS,
  type RouteCounts,
  type RouteFact,
  type RouteHistory,
  type RouteKey,
  type RouteSlot,
} from '../../machines/routes.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const MIDNIGHT = 20_000 * DAY

export const key = (more: Partial<RouteKey> = {}): RouteKey => ({
  kind: 'server',
  channel: 'sms',
  country: 'DE',
  provider: 'acme',
  ...more,
})

export const counts = (start: number, messages: number, approved: number): RouteCounts => ({
  start,
  messages,
  delivered: messages,
  approved,
})

/** Approvals take 20 seconds, nine of ten 60, unless `more` says otherwise. */
export const history = (more: Partial<RouteHistory> = {}): RouteHistory => ({
  ...key(),
  hours: [],
  slots: [],
  seconds_p50: 20,
  seconds_p90: 60,
  ...more,
})

export const fact = (approved: number, missed: number, more: Partial<RouteFact> = {}): RouteFact => ({
  ...key(),
  messages: approved + missed,
  delivered: approved + missed,
  approved,
  evidence: { approved, missed },
  seconds_p50: 20,
  silence: { score: 0, judged_until: 0, since: null },
  ...more,
})

/** The same number of messages in every hour of the days before `until`. */
export const usualDays = (until: number, rate: number, { days = 14, perHour = 10 } = {}): RouteCounts[] =>
  Array.from({ length: days * 24 }, (_, nth) =>
    counts(until - (days * 24 - nth) * HOUR, perHour, Math.round(perHour * rate)),
  )

export const slot = (start: number, messages: number, approved: number, tried = approved): RouteSlot => ({
  start,
  messages,
  tried,
  approved,
})

/** Slots one after another from `start` on, one message in each: true for one that was approved. */
export const singles = (start: number, approvals: readonly boolean[]): RouteSlot[] =>
  approvals.map((approved, nth) => slot(start + nth * ROUTE_SLOT_MS, 1, approved ? 1 : 0))
