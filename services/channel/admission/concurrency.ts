// Limits the concurrent calls of one provider. A provider that answers gets more slots, as far as it uses them; one that hangs gets fewer.
// Calls wait in a queue for at most a second, and not at all for a slow provider: waiting messages take up the channel's prefetch, which
// other providers need. The queue is there because returning a message to the broker costs as much as sending it.
import type { Clock } from '../../../infra/clock.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'

/** Frees the slot. Must be called once, with the result of the call, or null when no call was made. */
export type Release = (result: AttemptResult | null) => void

export interface Concurrency {
  /** Takes a slot, if need be after waiting in the queue; null when none became free in time. */
  acquire(): Promise<Release | null>
  /** How long a call takes at present. */
  callMs(): number
  /** Whether `acquire` would return null without waiting. */
  isBusy(): boolean
}

/** The maximum is less than half of a channel's prefetch. */
export const SLOTS = { initial: 64, max: 200, min: 4 }
const MAX_QUEUE_WAIT_MS = 1_000
/** A provider whose calls take longer than this has no queue. */
const SLOW_CALL_MS = 2_000
/** Assumed until the provider has been called. */
const INITIAL_CALL_MS = 50
/** The weight of the latest call in the moving average of call times. */
const LATEST_CALL_WEIGHT = 0.1

export function createConcurrency(clock: Clock): Concurrency {
  const queue = new Set<(release: Release | null) => void>()
  /** The calls in progress, oldest first. */
  const calls = new Set<{ startedAt: number }>()
  let slots: number = SLOTS.initial
  let averageMs = INITIAL_CALL_MS

  /** A call in progress that takes longer than the average replaces it, so that a provider that starts to hang is noticed at once. */
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
    if (result === 'unknown') slots = Math.max(SLOTS.min, Math.floor(slots / 2))
    else if (result !== 'failed' && (calls.size + 1) * 2 >= slots) slots = Math.min(SLOTS.max, slots + 1)
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
