// Events in the order of time. In: events in any order. Out: those before a time, sorted. Of events of one time, what
// was accepted comes before what was refused: a limit is full because of what was accepted.
import { isRefused, type PastEvent } from '../../../machines/replay.calls.ts'

export interface EventQueue {
  add(event: PastEvent): void
  /** All events before `time`; those that are alike in the order in which they were added. */
  takeBefore(time: number): PastEvent[]
}

const rankOf = (event: PastEvent): number => {
  if (event.what !== 'send' && event.what !== 'resend') return 1
  return isRefused(event.result) ? 2 : 0
}

export function createEventQueue(): EventQueue {
  let waiting: PastEvent[] = []
  return {
    add: event => void waiting.push(event),
    takeBefore(time) {
      const taken = waiting.filter(({ at }) => at < time)
      waiting = waiting.filter(({ at }) => at >= time)
      return taken.sort((one, other) => one.at - other.at || rankOf(one) - rankOf(other))
    },
  }
}
