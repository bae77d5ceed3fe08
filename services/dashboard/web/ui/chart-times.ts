// The times of a chart in words. In: buckets of an hour or a day. Out: words for the axis, and for one bucket. Hours are in the viewer's
// zone. Days are counted in UTC by the server, so they are shown in UTC.
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../infra/time.ts'

export interface ChartTimes {
  /** When each bucket begins, oldest first. */
  starts: readonly number[]
  bucketMs: number
}

/** Longer charts have a name for each day instead of hours. */
const MAX_MS_BY_HOUR = 2 * DAY_MS

const isByDay = ({ bucketMs }: ChartTimes): boolean => bucketMs >= DAY_MS
const isLong = ({ starts, bucketMs }: ChartTimes): boolean => starts.length * bucketMs > MAX_MS_BY_HOUR

export const timeZoneOf = (times: ChartTimes): 'UTC' | undefined => (isByDay(times) ? 'UTC' : undefined)

/** The steps between two names on the axis, in seconds. */
export function axisSteps(times: ChartTimes): number[] {
  const [hour, day] = [HOUR_MS / SECOND_MS, DAY_MS / SECOND_MS]
  if (isByDay(times)) return [1, 2, 5, 7, 10, 15].map(days => days * day)
  if (isLong(times)) return [1, 2, 4, 7].map(days => days * day)
  return [1, 2, 3, 4, 6, 8, 12, 24].map(hours => hours * hour)
}

const hasTwelveHours = (): boolean =>
  new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 ?? false

/** `8 AM` or `08:00`: the names on an axis are short. */
const hourFields = (): Intl.DateTimeFormatOptions =>
  hasTwelveHours() ? { hour: 'numeric' } : { hour: '2-digit', minute: '2-digit' }

export function formatAxisTime(times: ChartTimes): (at: number) => string {
  const timeZone = timeZoneOf(times)
  const fields: Intl.DateTimeFormatOptions = isByDay(times)
    ? { day: 'numeric', month: 'short' }
    : isLong(times)
      ? { weekday: 'short', day: 'numeric' }
      : hourFields()
  const format = new Intl.DateTimeFormat(undefined, { ...fields, ...(timeZone ? { timeZone } : {}) })
  return at => format.format(at)
}

/** One bucket: `Mon 3 Jun, 08:00–09:00` or `Mon, Jun 3, 8:00 AM–9:00 AM`; of a day `Mon 3 Jun`. */
export function formatBucket(times: ChartTimes): (start: number) => string {
  const timeZone = timeZoneOf(times)
  const day = new Intl.DateTimeFormat(undefined, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(timeZone ? { timeZone } : {}),
  })
  if (isByDay(times)) return start => day.format(start)
  const hour = new Intl.DateTimeFormat(undefined, {
    hour: hasTwelveHours() ? 'numeric' : '2-digit',
    minute: '2-digit',
  })
  return start => `${day.format(start)}, ${hour.format(start)}–${hour.format(start + times.bucketMs)}`
}
