// Runs tasks, at most `max` at once, in the order they come. While the processor is short, it runs them in groups: a task that comes while
// a group is under way waits until nearly all of the group has ended, and begins together with the others that waited.
//
// Tasks that begin together do their steps together, so each step is one command to the store for all of them. Tasks that begin one by one
// stay apart until they end, and each of them pays for commands of its own. With idle time that costs nothing, and waiting would only make
// calls slower.
import type { Clock } from './clock.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import { createFifo } from './fifo.ts'

export interface TaskGroupOptions {
  max: number
  /** A task does not wait longer than this for a group, some of whose tasks may hang; unless `max` tasks run. */
  maxWaitMs: number
  /** Whether the processor is short. */
  isBusy(): boolean
  clock: Pick<Clock, 'now' | 'after'>
}

/** The share of a group that may still run when it counts as ended. So a few tasks that hang do not delay the others. */
const LEFT_WHEN_ENDED = 1 / 8
/** How often it is asked whether the processor still is short, while tasks wait and none ends: all of a group may wait for the store. */
const LOOK_AGAIN_MS = 100

export function createTaskGroups({ max, maxWaitMs, isBusy, clock }: TaskGroupOptions): ConcurrencyLimit {
  const waiting = createFifo<() => void>()
  let running = 0
  /** A group is joined by what comes in the turn of the event loop in which it begins. */
  let isOpen = false
  /** The group counts as ended when no more than so many tasks run. */
  let endsAt = 0
  let waitingSince: number | null = null
  let isLooking = false

  function beginGroup(): void {
    if (!isOpen) setImmediate(closeGroup)
    isOpen = true
    while (running < max) {
      const begin = waiting.shift()
      if (!begin) break
      running += 1
      begin()
    }
    waitingSince = null
    waitForGroup()
  }

  function closeGroup(): void {
    isOpen = false
    endsAt = Math.floor(running * LEFT_WHEN_ENDED)
  }

  function waitForGroup(): void {
    if (waiting.size === 0) return
    waitingSince ??= clock.now()
    if (isLooking) return
    isLooking = true
    clock.after(Math.min(LOOK_AGAIN_MS, waitingSince + maxWaitMs - clock.now()), lookAgain)
  }

  function lookAgain(): void {
    isLooking = false
    if (waitingSince !== null && clock.now() - waitingSince >= maxWaitMs) beginGroup()
    else beginIfPossible()
  }

  function beginIfPossible(): void {
    if (waiting.size === 0 || running === max) return
    if (isOpen || running <= endsAt || !isBusy()) beginGroup()
    else waitForGroup()
  }

  return async task => {
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      beginIfPossible()
    })
    try {
      return await task()
    } finally {
      running -= 1
      beginIfPossible()
    }
  }
}
