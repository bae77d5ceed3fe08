// What is usual for a route at an hour: its conversion, and how many messages it gets. In: its hours. Out: functions of time that compute
// each hour once. Pure.
import { DAY_MS, HOUR_MS } from '../infra/time.ts'
import { decayed } from './routes.judged.ts'
import type { RouteCounts } from './routes.ts'

export interface Usual {
  /** On the careful side; null without enough evidence. */
  conversionAt(at: number): number | null
  /** Messages in the hour. */
  messagesAt(at: number): number
}

const WEEK_MS = 7 * DAY_MS

/** The usual follows a provider slowly, so that an outage is not the usual before it is noticed. */
const HALF_LIFE_MS = WEEK_MS
/** Hours that ended less than this before a slot may belong to the same outage. */
const ENDS_BEFORE_MS = HOUR_MS
/** With fewer messages, or approvals, there is no usual. */
const MIN_MESSAGES = 20
const MIN_APPROVED = 5
/** The same hours of a week ago, in which people may approve less: nights, weekends. */
const SAME_HOURS_MS = 3 * HOUR_MS
const SAME_HOURS_WEIGHT = 20
/** With so many messages the very hour of a week ago is looked at too: a weekend begins at once. */
const SAME_HOUR_MIN_MESSAGES = 100
/** They lower the usual to half at most, because they may have been an outage themselves. */
const SAME_HOURS_MIN = 0.5
/** How many messages an hour has is taken from this many days, the hour before and the hour after. */
const TRAFFIC_DAYS = 7

export function createUsual(hours: readonly RouteCounts[]): Usual {
  return {
    conversionAt: byHour(hour => conversionBefore(hours, hour)),
    messagesAt: byHour(hour => messagesAround(hours, hour)),
  }
}

function byHour<Value>(compute: (hour: number) => Value): (at: number) => Value {
  const known = new Map<number, Value>()
  return at => {
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS
    if (!known.has(hour)) known.set(hour, compute(hour))
    return known.get(hour) as Value
  }
}

function conversionBefore(hours: readonly RouteCounts[], hour: number): number | null {
  const until = hour - ENDS_BEFORE_MS
  const { messages, approved } = decayed(hours, { from: 0, until, now: hour, halfLifeMs: HALF_LIFE_MS })
  if (messages < MIN_MESSAGES || approved < MIN_APPROVED) return null
  const rate = approved / (messages + 1)
  const careful = rate - Math.sqrt((rate * (1 - rate)) / messages)
  const weekAgo = hour - WEEK_MS
  const within = (from: number, until: number) =>
    decayed(hours, { from, until, now: hour, halfLifeMs: Number.POSITIVE_INFINITY })
  const rateIn = (same: { messages: number; approved: number }): number =>
    (same.approved + SAME_HOURS_WEIGHT * rate) / (same.messages + SAME_HOURS_WEIGHT)
  const sameHour = within(weekAgo, weekAgo + HOUR_MS)
  const ofSameHours = Math.min(
    rateIn(within(weekAgo - SAME_HOURS_MS, weekAgo + SAME_HOURS_MS)),
    sameHour.messages < SAME_HOUR_MIN_MESSAGES ? 1 : rateIn(sameHour),
  )
  return careful * Math.min(1, Math.max(SAME_HOURS_MIN, ofSameHours / rate))
}

/** The messages of the same hour on other days. A route that is younger than a day has an average hour of those that
 *  ended long enough before. */
function messagesAround(hours: readonly RouteCounts[], hour: number): number {
  const first = hours[0]?.start ?? hour
  const days = Math.min(TRAFFIC_DAYS, Math.floor((hour - HOUR_MS - first) / DAY_MS))
  let messages = 0
  for (const one of hours) {
    const ago = hour - one.start
    if (days < 1 ? ago >= HOUR_MS + ENDS_BEFORE_MS : isSameHour(ago, days)) messages += one.messages
  }
  return messages / (days < 1 ? Math.max(1, (hour - ENDS_BEFORE_MS - first) / HOUR_MS) : 3 * days)
}

const isSameHour = (ago: number, days: number): boolean => {
  const nth = Math.round(ago / DAY_MS)
  return nth >= 1 && nth <= days && Math.abs(ago - nth * DAY_MS) <= HOUR_MS
}
