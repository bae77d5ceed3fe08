// The months of a time zone. In: a month such as "2026-11", and an IANA time zone. Out: its first moment, and that of the next month.

/** The time zone of a company that has chosen none. */
export const DEFAULT_TIMEZONE = 'UTC'

/** `Date` takes a year below 100 for one of the last century. */
export const MONTH = /^[12]\d{3}-(0[1-9]|1[0-2])$/

export function monthRange(month: string, timezone: string): { from: number; until: number } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return { from: localMidnight(year, number - 1, timezone), until: localMidnight(year, number, timezone) }
}

/** The month of a moment in a time zone. */
export const monthOf = (at: number, timezone: string): string => localTime(at, timezone).toISOString().slice(0, 7)

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The offset of the zone is that of the moment itself, which differs from that of UTC's midnight where a clock changes in between. */
function localMidnight(year: number, monthIndex: number, timezone: string): number {
  const utc = Date.UTC(year, monthIndex, 1)
  const guess = utc - offsetAt(utc, timezone)
  return utc - offsetAt(guess, timezone)
}

const offsetAt = (at: number, timezone: string): number =>
  localTime(at, timezone).getTime() - Math.floor(at / 1000) * 1000

/** What a clock of the zone shows, as if it were UTC. */
function localTime(at: number, timezone: string): Date {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second))
}
