// What was sent to one number by an app's devices. In: a history, and new entries. Out: the history after, and how long the number must
// wait. Pure. A number that is never verified gets a few messages an hour, and its starts are further and further apart.
import { DAY_MS, HOUR_MS } from '../infra/time.ts'

export interface NumberHistory {
  /** The times of messages of the last hour that were not verified. */
  messages: number[]
  /** The times at which verifications of the last day began that were not approved. */
  starts: number[]
  /** When a verification was last approved; 0 if none was. */
  approved_at: number
}

/** `start`: the first message of a verification. */
export interface NumberEntry {
  at: number
  what: 'start' | 'message' | 'approval'
}

/** More would not change the wait. */
const MAX_MESSAGES = 20
const MAX_STARTS = 8

export const EMPTY_HISTORY: NumberHistory = { messages: [], starts: [], approved_at: 0 }
/** An entry counts for so long. */
export const NUMBER_WINDOW_MS = DAY_MS

export const MAX_UNVERIFIED_MESSAGES = 10
const FREE_STARTS = 3
/** After the free starts, from one start to the next. */
const BACK_OFF_MS = [HOUR_MS, 4 * HOUR_MS, 24 * HOUR_MS]

export function addToHistory(history: NumberHistory, entries: readonly NumberEntry[], now: number): NumberHistory {
  let { messages, starts, approved_at } = history
  for (const { at, what } of entries) {
    if (what === 'approval') {
      approved_at = Math.max(approved_at, at)
      messages = withoutLast(messages, at)
    } else {
      messages = [...messages, at]
      if (what === 'start') starts = [...starts, at]
    }
  }
  return {
    messages: latest(messages, now - HOUR_MS, MAX_MESSAGES),
    // Entries of other processes may come late: a start before the approval was approved with it.
    starts: latest(starts, Math.max(now - DAY_MS, approved_at), MAX_STARTS),
    approved_at,
  }
}

const latest = (times: readonly number[], after: number, most: number): number[] =>
  times
    .filter(at => at > after)
    .sort((one, other) => one - other)
    .slice(-most)

/** The message that was verified is the last one before the approval. */
function withoutLast(times: readonly number[], until: number): number[] {
  const last = Math.max(...times.filter(at => at <= until))
  const position = times.lastIndexOf(last)
  return times.filter((_, index) => index !== position)
}

const within = (times: readonly number[], ms: number, now: number): number[] => times.filter(at => at > now - ms)

/** How many messages of the last hour were not verified. */
export const unverifiedMessages = ({ messages }: NumberHistory, now: number): number =>
  within(messages, HOUR_MS, now).length

/** Milliseconds until one more message is allowed; 0 if it is now. */
export function messageWait({ messages }: NumberHistory, now: number): number {
  const full = within(messages, HOUR_MS, now).at(-MAX_UNVERIFIED_MESSAGES)
  return full === undefined ? 0 : full + HOUR_MS - now
}

/** How many verifications of the last day began that were not approved. */
export const unapprovedStarts = ({ starts }: NumberHistory, now: number): number => within(starts, DAY_MS, now).length

/** Milliseconds until a verification may begin; 0 if it may now. */
export function backOff({ starts }: NumberHistory, now: number): number {
  const counted = within(starts, DAY_MS, now)
  const last = counted.at(-1)
  if (last === undefined || counted.length < FREE_STARTS) return 0
  const wait = BACK_OFF_MS[Math.min(counted.length - FREE_STARTS, BACK_OFF_MS.length - 1)] as number
  return Math.max(0, last + wait - now)
}
