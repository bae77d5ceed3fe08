// Months such as "2026-11".
import { monthOf } from '../../../../domain/money/month.ts'

const SHOWN_MONTHS = 13

/** The current month of the time zone and those before it, newest first. */
export function recentMonths(now: number, timezone: string): string[] {
  const [year = 0, month = 1] = monthOf(now, timezone).split('-').map(Number)
  return Array.from({ length: SHOWN_MONTHS }, (_, ago) =>
    new Date(Date.UTC(year, month - 1 - ago, 1)).toISOString().slice(0, 7),
  )
}

const format = new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', year: 'numeric', month: 'long' })

export const monthName = (month: string): string => format.format(Date.parse(`${month}-01T00:00:00Z`))
