// How many messages were sent and how many of them were verified, over time; counted for a range of numbers, a country, all numbers that
// an app's devices send to, and a network of client addresses. In: a tally and new entries. Out: the tally after. Pure. Adding entries also
// drops the periods that are too old.
import { DAY_MS } from '../infra/time.ts'

export interface ConversionCounts {
  sent: number
  verified: number
}

/** `at` is the number of the period since the epoch. */
export interface Period extends ConversionCounts {
  at: number
}

export interface Tally {
  /** Slots of five minutes, 14 at most, oldest first. */
  slots: Period[]
  /** UTC days, oldest first. */
  days: Period[]
}

/** Adds to the counts of the messages that were sent at `at`. A delivery that failed still counts as sent, because a fraudster may run the
 *  network that reports the failure. */
export interface TallyEntry extends ConversionCounts {
  at: number
}

export const SLOT_MS = 300_000
/** An hour of slots. */
const RECENT_SLOTS = 12
/** Where there is time, the current slot and the one before are not judged: their users may still be entering codes. */
const UNJUDGED_SLOTS = 2
const TRAFFIC_SLOTS = 2
/** A tally has the last days and today. */
export const TALLY_DAYS = 7
/** A day with fewer sends is not used to find the usual conversion. */
const MIN_SENT_PER_DAY = 20
const TEN_MINUTES_PER_DAY = 144

export const EMPTY_TALLY: Tally = { slots: [], days: [] }

/** A verified message counts in the period in which it was sent, so that `verified` is always a part of `sent`. */
export function addToTally(tally: Tally, entries: readonly TallyEntry[], now: number): Tally {
  const oldestSlot = Math.floor(now / SLOT_MS) - RECENT_SLOTS - UNJUDGED_SLOTS + 1
  const oldestDay = Math.floor(now / DAY_MS) - TALLY_DAYS
  return {
    slots: addEntries(tally.slots, entries, SLOT_MS, oldestSlot),
    days: addEntries(tally.days, entries, DAY_MS, oldestDay),
  }
}

function addEntries(
  periods: readonly Period[],
  entries: readonly TallyEntry[],
  length: number,
  oldest: number,
): Period[] {
  const all = periods.filter(({ at }) => at >= oldest)
  for (const { at: moment, sent, verified } of entries) {
    const at = Math.floor(moment / length)
    if (at < oldest) continue
    const position = all.findLastIndex(period => period.at <= at)
    const before = all[position]
    if (before?.at === at) all[position] = { at, sent: before.sent + sent, verified: before.verified + verified }
    else all.splice(position + 1, 0, { at, sent, verified })
  }
  return all
}

/** The counts of an hour, without the last five to ten minutes. */
export const settledCounts = (tally: Tally, now: number): ConversionCounts =>
  sum(latestSlots(tally, now, UNJUDGED_SLOTS, RECENT_SLOTS))

/** The counts of the last hour up to now. */
export const countsUpToNow = (tally: Tally, now: number): ConversionCounts =>
  sum(latestSlots(tally, now, 0, RECENT_SLOTS))

/** How many were sent in the last five to ten minutes. */
export const trafficNow = (tally: Tally, now: number): number => sum(latestSlots(tally, now, 0, TRAFFIC_SLOTS)).sent

function latestSlots({ slots }: Tally, now: number, skipped: number, count: number): Period[] {
  const last = Math.floor(now / SLOT_MS) - skipped
  return slots.filter(({ at }) => at <= last && at > last - count)
}

/** The share that was verified on the median day of the last week, without today; null when no day had enough sends. The median keeps
 *  a few days of fraud from changing it. */
export function usualConversion({ days }: Tally, now: number): number | null {
  const busy = pastDays(days, now).filter(({ sent }) => sent >= MIN_SENT_PER_DAY)
  return median(busy.map(({ sent, verified }) => Math.min(1, verified / sent)))
}

/** How many were sent in ten minutes of the median day of the last week; null without a past day. */
export function usualTraffic({ days }: Tally, now: number): number | null {
  const usual = median(pastDays(days, now).map(({ sent }) => sent))
  return usual === null ? null : usual / TEN_MINUTES_PER_DAY
}

const median = (values: readonly number[]): number | null =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? null

/** How many were verified per ten minutes in the last week. It counts verified sends, so that fraud does not raise the pace. */
export function usualPace({ days }: Tally, now: number): number {
  const past = pastDays(days, now)
  return past.length === 0 ? 0 : sum(past).verified / (past.length * TEN_MINUTES_PER_DAY)
}

const pastDays = (days: readonly Period[], now: number): Period[] =>
  days.filter(({ at }) => at < Math.floor(now / DAY_MS))

const sum = (periods: readonly Period[]): ConversionCounts => ({
  sent: periods.reduce((total, { sent }) => total + sent, 0),
  verified: periods.reduce((total, { verified }) => total + verified, 0),
})
