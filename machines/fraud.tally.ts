// How many verifications by text message began and how many of them were proved, over time. Counted for a country and for a range
// of numbers. In: a tally and news of single sends. Out: the tally after. Pure; what is too old is forgotten on the way.

/** `at` numbers a stretch of time since the epoch. */
export interface Period {
  at: number
  sent: number
  verified: number
}

export interface Tally {
  /** Of five minutes each, for an hour and a bit, oldest first. */
  slots: Period[]
  /** UTC days, for a week and today, oldest first. */
  days: Period[]
}

/** Of verifications that began at a time, so many more were sent, so many more proved. A delivery that failed stays sent: whoever
 *  pumps may well run the network that says so. */
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
/** Slots that are looked at: an hour. The current one and the one before are too young, people are still reading. */
const RECENT_SLOTS = 12
const UNJUDGED_SLOTS = 2
const DAYS = 7
/** A day with less says nothing of what is usual. */
const MIN_SENT_PER_DAY = 20
const TEN_MINUTE_SLOTS_PER_DAY = 144

export const EMPTY_TALLY: Tally = { slots: [], days: [] }

/** Every news is credited to when its verification began, so that a share compares the very same verifications. */
export function addToTally(tally: Tally, entries: readonly TallyEntry[], now: number): Tally {
  const [slot, day] = [Math.floor(now / SLOT_MS), Math.floor(now / DAY_MS)]
  return {
    slots: addEntries(tally.slots, entries, SLOT_MS).filter(({ at }) => at > slot - RECENT_SLOTS - UNJUDGED_SLOTS),
    days: addEntries(tally.days, entries, DAY_MS).filter(({ at }) => at >= day - DAYS),
  }
}

function addEntries(periods: readonly Period[], entries: readonly TallyEntry[], length: number): Period[] {
  const all = new Map(periods.map(period => [period.at, period]))
  for (const { at: moment, sent, verified } of entries) {
    const at = Math.floor(moment / length)
    const before = all.get(at) ?? { at, sent: 0, verified: 0 }
    all.set(at, { at, sent: before.sent + sent, verified: before.verified + verified })
  }
  return [...all.values()].sort((one, other) => one.at - other.at)
}

/** The last hour, but for what is too young to be judged. */
export function recentCounts({ slots }: Tally, now: number): ConversionCounts {
  const slot = Math.floor(now / SLOT_MS)
  return sum(slots.filter(({ at }) => at <= slot - UNJUDGED_SLOTS && at > slot - UNJUDGED_SLOTS - RECENT_SLOTS))
}

/** The share that is verified on the median day of the last week, today left out; null when no day had enough. A few days of
 *  fraud do not make it usual. */
export function usualConversion({ days }: Tally, now: number): number | null {
  const shares = pastDays(days, now)
    .filter(({ sent }) => sent >= MIN_SENT_PER_DAY)
    .map(({ sent, verified }) => Math.min(1, verified / sent))
    .sort((one, other) => one - other)
  return shares[Math.floor(shares.length / 2)] ?? null
}

/** How many are verified in ten minutes of a day of the last week. What nobody verified makes no pace usual. */
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
