// Spans of time as people write and read them: in full for fields, "1 hour 30 minutes", and short for figures, "1 h 30 min". In: seconds,
// milliseconds or a text. Out: the text, or the seconds. Pure.
import { SECOND_MS } from '../../../../infra/time.ts'
import type { Notation } from './notation.ts'

const DAY = { seconds: 86_400, name: 'day', short: 'd', spellings: ['d', 'day', 'days'] }
const HOUR = { seconds: 3_600, name: 'hour', short: 'h', spellings: ['h', 'hr', 'hrs', 'hour', 'hours'] }
const MINUTE = { seconds: 60, name: 'minute', short: 'min', spellings: ['m', 'min', 'mins', 'minute', 'minutes'] }
const SECOND = { seconds: 1, name: 'second', short: 's', spellings: ['s', 'sec', 'secs', 'second', 'seconds'] }
const UNITS = [DAY, HOUR, MINUTE, SECOND]

const WEEK = { seconds: 604_800, spellings: ['w', 'week', 'weeks'] }

const SECONDS_OF = new Map(
  [WEEK, ...UNITS].flatMap(({ seconds, spellings }) => spellings.map(spelling => [spelling, seconds] as const)),
)

const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`

/** "10 minutes", "1 hour 30 minutes", "1 day". */
export function formatDuration(total: number): string {
  if (!Number.isInteger(total) || total <= 0) return counted(total, 'second')
  let left = total
  const parts: string[] = []
  for (const { seconds, name } of UNITS) {
    const count = Math.floor(left / seconds)
    if (count > 0) parts.push(counted(count, name))
    left -= count * seconds
  }
  return parts.join(' ')
}

const PART = /(\d{1,9})\s*([a-z]+)[\s,]*/g

/** Seconds. Null where the text is none, or a number without a unit: 10 may be meant as seconds or as minutes. */
export function parseDuration(text: string): number | null {
  const typed = text
    .trim()
    .toLowerCase()
    .replaceAll(/\band\b/g, ' ')
  // Nothing needs no unit.
  if (/^0+$/.test(typed)) return 0
  if (typed === '' || typed.replaceAll(PART, '').trim() !== '') return null
  let total = 0
  for (const [, count, unit] of typed.matchAll(PART)) {
    const seconds = SECONDS_OF.get(unit ?? '')
    if (seconds === undefined) return null
    total += Number(count) * seconds
  }
  return total
}

export const duration: Notation<number> = { parse: parseDuration, format: formatDuration }

/** Several spans with commas between them: "30 seconds, 1 minute". */
export const durations: Notation<number[]> = {
  parse(text) {
    const spans = text.split(',').map(parseDuration)
    return spans.every(span => span !== null) ? spans : null
  },
  format: spans => spans.map(formatDuration).join(', '),
}

/** The two largest units, rounded: "5 s", "2 min 10 s", "3 h 5 min", "2 d 4 h". */
export function shortDuration(seconds: number): string {
  const rounded = (unit: typeof DAY): number => Math.round(seconds / unit.seconds) * unit.seconds
  if (rounded(SECOND) < MINUTE.seconds) return `${rounded(SECOND)} s`
  if (rounded(SECOND) < HOUR.seconds) return inTwoUnits(rounded(SECOND), MINUTE, SECOND)
  if (rounded(MINUTE) < DAY.seconds) return inTwoUnits(rounded(MINUTE), HOUR, MINUTE)
  return inTwoUnits(rounded(HOUR), DAY, HOUR)
}

/** `seconds` is a whole number of the small unit. */
function inTwoUnits(seconds: number, large: typeof DAY, small: typeof DAY): string {
  const whole = `${Math.floor(seconds / large.seconds)} ${large.short}`
  const rest = (seconds % large.seconds) / small.seconds
  return rest === 0 ? whole : `${whole} ${rest} ${small.short}`
}

/** For what a machine took: below a second in milliseconds, below ten seconds with a tenth. */
export function shortDurationOfMs(ms: number): string {
  const length = Math.max(0, Math.round(ms))
  if (length < SECOND_MS) return `${length} ms`
  // 9 950 ms would round to 10.0.
  if (length < 9_950) return `${(length / SECOND_MS).toFixed(1).replace(/\.0$/, '')} s`
  return shortDuration(length / SECOND_MS)
}

/** From one time of the API to another; negative when the second is earlier. */
export const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from)
