// Spans of time as people write them. In: seconds, or a text such as "10 minutes" or "1 h 30 min". Out: the text, or the seconds. Pure.
import type { Notation } from './notation.ts'

const UNITS = [
  { seconds: 86_400, name: 'day', spellings: ['d', 'day', 'days'] },
  { seconds: 3_600, name: 'hour', spellings: ['h', 'hr', 'hrs', 'hour', 'hours'] },
  { seconds: 60, name: 'minute', spellings: ['m', 'min', 'mins', 'minute', 'minutes'] },
  { seconds: 1, name: 'second', spellings: ['s', 'sec', 'secs', 'second', 'seconds'] },
]

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
