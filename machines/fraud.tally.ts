// How many verifications by text message began and how many of them were proved, over time. Counted for a country and for a range
// of numbers. In: a tally and news of single sends. Out: the tally after. Pure; what is too old is forgotten on the way.

/** `at` numbers a stretch of time since the epoch. */
export interface Stretch {
  at: number
  sent: number
  verified: number
}

export interface Tally {
  /** Of five minutes each, for an hour and a bit, oldest first. */
  slots: Stretch[]
  /** UTC days, for a week and today, oldest first. */
  days: Stretch[]
}

/** Of verifications that began at a time, so many more were sent, so many more proved. A delivery that failed stays sent: whoever
 *  pumps may well run the network that says so. */
export interface TallyNews {
  at: number
  sent: number
  verified: number
}

export interface Share {
  sent: number
  verified: number
}

export const SLOT_MS = 300_000
const DAY_MS = 86_400_000
/** Slots that are looked at: an hour. The current one and the one before are too young, people are still reading. */
const RECENT_SLOTS = 12
const YOUNG_SLOTS = 2
const DAYS = 7
/** A day with less says nothing of what is usual. */
const LEAST_OF_A_DAY = 20
const SLOTS_OF_TEN_MINUTES_A_DAY = 144

export const EMPTY_TALLY: Tally = { slots: [], days: [] }

/** Every news is credited to when its verification began, so that a share compares the very same verifications. */
export function tallied(tally: Tally, news: readonly TallyNews[], now: number): Tally {
  const [slot, day] = [Math.floor(now / SLOT_MS), Math.floor(now / DAY_MS)]
  return {
    slots: added(tally.slots, news, SLOT_MS).filter(({ at }) => at > slot - RECENT_SLOTS - YOUNG_SLOTS),
    days: added(tally.days, news, DAY_MS).filter(({ at }) => at >= day - DAYS),
  }
}

function added(stretches: readonly Stretch[], news: readonly TallyNews[], length: number): Stretch[] {
  const all = new Map(stretches.map(stretch => [stretch.at, stretch]))
  for (const { at: moment, sent, verified } of news) {
    const at = Math.floor(moment / length)
    const before = all.get(at) ?? { at, sent: 0, verified: 0 }
    all.set(at, { at, sent: before.sent + sent, verified: before.verified + verified })
  }
  return [...all.values()].sort((one, other) => one.at - other.at)
}

/** The last hour, but for what is too young to be judged. */
export function recentShare({ slots }: Tally, now: number): Share {
  const slot = Math.floor(now / SLOT_MS)
  return sum(slots.filter(({ at }) => at <= slot - YOUNG_SLOTS && at > slot - YOUNG_SLOTS - RECENT_SLOTS))
}

/** The share that is verified on the median day of the last week, today left out; null when no day had enough. A few days of
 *  fraud do not make it usual. */
export function usualShare({ days }: Tally, now: number): number | null {
  const shares = pastDays(days, now)
    .filter(({ sent }) => sent >= LEAST_OF_A_DAY)
    .map(({ sent, verified }) => Math.min(1, verified / sent))
    .sort((one, other) => one - other)
  return shares[Math.floor(shares.length / 2)] ?? null
}

/** How many are verified in ten minutes of a day of the last week. What nobody verified makes no pace usual. */
export function usualPace({ days }: Tally, now: number): number {
  const past = pastDays(days, now)
  return past.length === 0 ? 0 : sum(past).verified / (past.length * SLOTS_OF_TEN_MINUTES_A_DAY)
}

const pastDays = (days: readonly Stretch[], now: number): Stretch[] =>
  days.filter(({ at }) => at < Math.floor(now / DAY_MS))

const sum = (stretches: readonly Stretch[]): Share => ({
  sent: stretches.reduce((total, { sent }) => total + sent, 0),
  verified: stretches.reduce((total, { verified }) => total + verified, 0),
})
