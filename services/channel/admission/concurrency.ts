// Room for so many calls at once, and a line before it. A provider that answers gets more room, as far as it uses it; one that hangs
// gets less. Nobody stands in line for long, and before a slow provider not at all: what waits for it would take a channel's hands from
// all the others. Giving a message back to the broker costs as much as sending it, so it is not done to who would be served soon.
import type { Clock } from '../../../infra/clock.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'

/** Gives the place back; called once, with what came of the call, null where none was made. */
export type Release = (result: AttemptResult | null) => void

export interface Concurrency {
  /** A place, maybe after a moment in the line; null when there is none to be had soon. */
  acquire(): Promise<Release | null>
  /** How long a call takes these days. */
  callMs(): number
  /** Whether `take` would be in vain. */
  isBusy(): boolean
}

/** At most less than half of what a channel has in hand at once. */
const SLOTS = { first: 64, most: 200, least: 4 }
/** The longest wait in the line; and how long a call may take for there to be a line at all. */
const MAX_QUEUE_WAIT_MS = 1_000
const SLOW_CALL_MS = 2_000
/** Of a provider nobody has called yet. */
const INITIAL_CALL_MS = 50
/** How much of what is thought of it a provider's latest call decides. */
const LATEST_CALL_WEIGHT = 0.1

export function createConcurrency(clock: Clock): Concurrency {
  const queue = new Set<(release: Release | null) => void>()
  /** When each call began, the oldest first. */
  const calls = new Set<{ startedAt: number }>()
  let slots: number = SLOTS.first
  let averageMs = INITIAL_CALL_MS

  /** A call that takes longer than usual says more about now than all that were quicker before. */
  const callMs = (): number => {
    const [oldest] = calls
    return Math.max(averageMs, oldest ? clock.now() - oldest.startedAt : 0)
  }

  function acquireSlot(): Release {
    const call = { startedAt: clock.now() }
    calls.add(call)
    return result => {
      calls.delete(call)
      if (result !== null) adjust(result, clock.now() - call.startedAt)
      admitWaiting()
    }
  }

  function adjust(result: AttemptResult, ms: number): void {
    averageMs += (ms - averageMs) * LATEST_CALL_WEIGHT
    if (result === 'unknown') slots = Math.max(SLOTS.least, Math.floor(slots / 2))
    else if (result !== 'failed' && (calls.size + 1) * 2 >= slots) slots = Math.min(SLOTS.most, slots + 1)
  }

  function admitWaiting(): void {
    for (const next of queue) {
      if (calls.size >= slots) return
      next(acquireSlot())
    }
  }

  const waitInQueue = (): Promise<Release | null> =>
    new Promise(resolve => {
      const finish = (release: Release | null): void => {
        queue.delete(finish)
        cancel()
        resolve(release)
      }
      const cancel = clock.after(MAX_QUEUE_WAIT_MS, () => finish(null))
      queue.add(finish)
    })

  const isBusy = (): boolean => calls.size >= slots && callMs() > SLOW_CALL_MS

  return {
    callMs,
    isBusy,
    async acquire() {
      if (calls.size < slots) return acquireSlot()
      return isBusy() ? null : waitInQueue()
    },
  }
}
