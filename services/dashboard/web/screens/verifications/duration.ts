// A length of time for people: 812 ms, 4.2 s, 12 s, 3 min 5 s, 2 h 10 min, 3 d 4 h.

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export function durationText(ms: number): string {
  const length = Math.max(0, Math.round(ms))
  if (length < SECOND_MS) return `${length} ms`
  // Below ten seconds a tenth matters. 9 950 ms would round to 10.0.
  if (length < 9_950) return `${(length / SECOND_MS).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(length / SECOND_MS)
  if (seconds < 60) return `${seconds} s`
  if (seconds * SECOND_MS < HOUR_MS) return twoUnits(seconds * SECOND_MS, [MINUTE_MS, 'min'], [SECOND_MS, 's'])
  const minutes = Math.round(length / MINUTE_MS)
  if (minutes * MINUTE_MS < DAY_MS) return twoUnits(minutes * MINUTE_MS, [HOUR_MS, 'h'], [MINUTE_MS, 'min'])
  return twoUnits(Math.round(length / HOUR_MS) * HOUR_MS, [DAY_MS, 'd'], [HOUR_MS, 'h'])
}

type Unit = [ms: number, name: string]

/** `ms` is a whole number of the small unit. */
function twoUnits(ms: number, [largeMs, large]: Unit, [smallMs, small]: Unit): string {
  const rest = (ms % largeMs) / smallMs
  const whole = `${Math.floor(ms / largeMs)} ${large}`
  return rest === 0 ? whole : `${whole} ${rest} ${small}`
}

/** From one time of the API to another; negative when the second is earlier. */
export const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from)
