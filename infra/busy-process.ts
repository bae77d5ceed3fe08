// Whether this process is short of processor time. In: how long its event loop has been idle and active. Out: whether it had little idle
// time lately. A process that a quota stops does not notice, so that time counts as active: it is short of processor time too.
import { performance } from 'node:perf_hooks'

/** Milliseconds since the start. */
export interface LoopTimes {
  idle: number
  active: number
}

/** The share of active time above which a process is busy. */
const BUSY_SHARE = 0.8
/** Long enough for some turns of the event loop, and for a period of a quota: a shorter time is all active or all idle. */
const WINDOW_MS = 100

/** Looks back over one to two windows, or to the last question if that is longer ago. */
export function createIsBusy(read: () => LoopTimes = () => performance.eventLoopUtilization()): () => boolean {
  let before = read()
  let last = before
  return () => {
    const now = read()
    if (lengthOf(last, now) >= WINDOW_MS) {
      before = last
      last = now
    }
    // Not where the runtime counts neither, as Deno does not.
    return now.active - before.active > BUSY_SHARE * lengthOf(before, now)
  }
}

const lengthOf = (from: LoopTimes, to: LoopTimes): number => to.idle + to.active - from.idle - from.active
