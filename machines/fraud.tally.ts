// How many verifications by text message were started and how many of them were verified, over time; counted for a country and for a
// range of numbers. In: a tally and new entries. Out: the tally after. Pure. Adding entries also drops the periods that are too old.

/** `at` is the number of the period since the epoch. */
export interface Period {
  at: number
  sent: number
  verified: number
}

export interface Tally {
  /** Slots of five minutes, 14 at most, oldest first. */
  slots: Period[]
  /** UTC days: the last seven and today, oldest first. */
  days: Period[]
}

/** Adds to the counts of the verifications that started at `at`. A delivery that failed still counts as sent, because a fraudster may
 *  run the network that reports the failure. */
export interface TallyEntry {
  at: number
  sent: number
  verified: number
}

export interface ConversionCounts {
  sent: number
  verified: number
}

export const SLOT_MS = 300_000
const DAY_MS = 86_400_000
/** An hour of slots is judged. The current slot and the one before are not: their users may still be entering codes. */
const RECENT_SLOTS = 12
const UNJUDGED_SLOTS = 2
const DAYS = 7
/** A day with fewer sends is not used to find the usual conversion. */
const MIN_SENT_PER_DAY = 20
const TEN_MINUTE_SLOTS_PER_DAY = 144

export const EMPTY_TALLY: Tally = { slots: [], days: [] }

/** An entry counts in the period in which its verification started, so that `verified` is always a part of `sent`. */
export function addToTally(tally: Tally, entries: readonly TallyEntry[], now: number): Tally {
  const oldestSlot = Math.floor(now / SLOT_MS) - RECENT_SLOTS - UNJUDGED_SLOTS + 1
  const oldestDay = Math.floor(now / DAY_MS) - DAYS
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

/** The counts of the last hour that can be judged. */
export function recentCounts({ slots }: Tally, now: number): ConversionCounts {
  const slot = Math.floor(now / SLOT_MS)
  return sum(slots.filter(({ at }) => at <= slot - UNJUDGED_SLOTS && at > slot - UNJUDGED_SLOTS - RECENT_SLOTS))
}

/** The share that was verified on the median day of the last week, without today; null when no day had enough sends. The median keeps
 *  a few days of fraud from changing it. */
export function usualConversion({ days }: Tally, now: number): number | null {
  const shares = pastDays(days, now)
    .filter(({ sent }) => sent >= MIN_SENT_PER_DAY)
    .map(({ sent, verified }) => Math.min(1, verified / sent))
    .sort((one, other) => one - other)
  return shares[Math.floor(shares.length / 2)] ?? null
}

/** How many were verified per ten minutes in the last week. It counts verified sends, so that fraud does not raise the pace. */
export function usualPace({ days }: Tally, now: number): number {
  const past = pastDays(days, now)
  return past.length === 0 ? 0 : sum(past).verified / (past.length * TEN_MINUTE_SLOTS_PER_DAY)
}

const pastDays = (days: readonly Period[], now: number): Period[] =>
  days.filter(({ at }) => at < Math.floor(now / DAY_MS))

const sum = (periods: readonly Period[]): ConversionCounts => ({
  sent: periods.reduce((total, { sent }) => total + sent, 0),
  verified: periods.reduce((total, { verified }) => total + verified, 0),
})
