// Room for so many calls at once, and a line before it. A provider that answers gets more room, as far as it uses it; one that hangs
// gets less. Nobody stands in line for long, and before a slow provider not at all: what waits for it would take a channel's hands from
// all the others. Giving a message back to the broker costs as much as sending it, so it is not done to who would be served soon.
import type { Clock } from '../../../infra/clock.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'

/** Gives the place back; called once, with what came of the call, null where none was made. */
export type Leave = (result: AttemptResult | null) => void

export interface Room {
  /** A place, maybe after a moment in the line; null when there is none to be had soon. */
  take(): Promise<Leave | null>
  /** How long a call takes these days. */
  callMs(): number
  /** Whether `take` would be in vain. */
  isCrowded(): boolean
}

/** At most less than half of what a channel has in hand at once. */
const PLACES = { first: 64, most: 200, least: 4 }
/** The longest wait in the line; and how long a call may take for there to be a line at all. */
const WAIT_MS = 1_000
const SLOW_MS = 2_000
/** Of a provider nobody has called yet. */
const FIRST_GUESS_MS = 50
/** How much of what is thought of it a provider's latest call decides. */
const LATEST_SHARE = 0.1

export function room(clock: Clock): Room {
  const line = new Set<(leave: Leave | null) => void>()
  /** When each call began, the oldest first. */
  const calls = new Set<{ begun: number }>()
  let places: number = PLACES.first
  let usualMs = FIRST_GUESS_MS

  /** A call that takes longer than usual says more about now than all that were quicker before. */
  const callMs = (): number => {
    const [oldest] = calls
    return Math.max(usualMs, oldest ? clock.now() - oldest.begun : 0)
  }

  function take(): Leave {
    const call = { begun: clock.now() }
    calls.add(call)
    return result => {
      calls.delete(call)
      if (result !== null) learn(result, clock.now() - call.begun)
      admit()
    }
  }

  function learn(result: AttemptResult, ms: number): void {
    usualMs += (ms - usualMs) * LATEST_SHARE
    if (result === 'unknown') places = Math.max(PLACES.least, Math.floor(places / 2))
    else if (result !== 'failed' && (calls.size + 1) * 2 >= places) places = Math.min(PLACES.most, places + 1)
  }

  function admit(): void {
    for (const next of line) {
      if (calls.size >= places) return
      next(take())
    }
  }

  const inLine = (): Promise<Leave | null> =>
    new Promise(resolve => {
      const called = (leave: Leave | null): void => {
        line.delete(called)
        cancel()
        resolve(leave)
      }
      const cancel = clock.after(WAIT_MS, () => called(null))
      line.add(called)
    })

  const isCrowded = (): boolean => calls.size >= places && callMs() > SLOW_MS

  return {
    ...{ callMs, isCrowded },
    async take() {
      if (calls.size < places) return take()
      return isCrowded() ? null : inLine()
    },
  }
}
