// Limits the concurrent calls of one provider. A provider that answers gets more slots, as far as it uses them; one
// that hangs gets fewer. Calls wait in a queue, because returning a message to the broker costs as much as sending it.
// The queue is no longer than the waiting room allows, and than what the provider is likely to answer in five seconds.
// A slow provider has no queue.
import type { Clock } from '../../../infra/clock.ts'
import type { AttemptResult } from '../../domain/verifications/documents.ts'

/** Frees the slot. Must be called once, with the result of the call, or null when no call was made. */
export type Release = (result: AttemptResult | null) => void

export interface Concurrency {
  /** Takes a slot, if need be after waiting in the queue; null when none became free in time. */
  acquire(): Promise<Release | null>
  /** Counts a call that will soon ask for a slot, until the returned function is called. */
  reserve(): () => void
  /** How long a call that comes now would wait, if all slots are in use and those in the queue come first. */
  waitMs(): number
  /** Whether `acquire` would return null without waiting, after those that have reserved. */
  isBusy(): boolean
}

const INITIAL_SLOTS = 64
const MIN_SLOTS = 4
const MAX_QUEUE_WAIT_MS = 5_000
/** A provider whose calls take longer than this has no queue. */
const SLOW_CALL_MS = 2_000
/** Assumed until the provider has been called. */
const INITIAL_CALL_MS = 50
/** The weight of the latest call in the moving average of call times. */
const LATEST_CALL_WEIGHT = 0.1

export interface ConcurrencyDeps {
  clock: Clock
  /** The most slots that the provider ever gets. */
  maxCalls: number
  /** Shared with the other providers of the channel. */
  room: Pick<WaitingRoom, 'hasPlaceFor' | 'enter'>
}

export function createConcurrency({ clock, maxCalls, room }: ConcurrencyDeps): Concurrency {
  const queue = new Set<(release: Release | null) => void>()
  /** The calls in progress, oldest first. */
  const calls = new Set<{ startedAt: number }>()
  /** Those who will ask for a slot, and whether each is likely to wait for it: then it has a place in the room. */
  const reserved = { all: 0, waiting: 0 }
  let slots = Math.min(INITIAL_SLOTS, maxCalls)
  let averageMs = INITIAL_CALL_MS

  /** How long a call takes at present. One in progress that takes longer than the average replaces it, so that a provider that starts to
   *  hang is noticed at once. */
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
    if (result === 'unknown') slots = Math.max(Math.min(MIN_SLOTS, maxCalls), Math.floor(slots / 2))
    else if (result !== 'failed' && (calls.size + 1) * 2 >= slots) slots = Math.min(maxCalls, slots + 1)
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
        leave()
        resolve(release)
      }
      const cancel = clock.after(MAX_QUEUE_WAIT_MS, () => finish(null))
      const leave = room.enter(() => finish(null))
      queue.add(finish)
    })

  function reserve(): () => void {
    const waits = isFull()
    const leave = waits ? room.enter(() => {}) : () => {}
    reserved.all += 1
    reserved.waiting += waits ? 1 : 0
    return () => {
      leave()
      reserved.all -= 1
      reserved.waiting -= waits ? 1 : 0
    }
  }

  const isFull = (): boolean => calls.size + reserved.all >= slots

  const places = (): number => queue.size + reserved.waiting

  const waitMs = (): number => callMs() * (1 + places() / slots)

  const mayWait = (): boolean => callMs() <= SLOW_CALL_MS && waitMs() <= MAX_QUEUE_WAIT_MS && room.hasPlaceFor(places())

  const isBusy = (): boolean => isFull() && !mayWait()

  return {
    reserve,
    waitMs,
    isBusy,
    async acquire() {
      if (calls.size < slots) return acquireSlot()
      return isBusy() ? null : waitInQueue()
    },
  }
}

/** The places in which the messages of a channel wait for a slot of their provider. Waiting messages take up the
 *  channel's prefetch, so all providers share one number of places, by the rule of docs/decisions/overload.md#sharing:
 *  a provider may hold at most as many as it leaves free. So no provider takes the places that another one needs. */
export interface WaitingRoom {
  /** Whether a provider that holds so many places may take one more. */
  hasPlaceFor(held: number): boolean
  /** Takes a place, until the returned function is called. `sendAway` is called if the room is closed before. */
  enter(sendAway: () => void): () => void
  /** Sends everyone away. There are no places until it is opened again. */
  close(): void
  open(): void
}

export function createWaitingRoom(places: number): WaitingRoom {
  /** How to send away each that waits. */
  const waiting = new Set<() => void>()
  let isOpen = true
  return {
    hasPlaceFor: held => isOpen && held < places - waiting.size,
    enter(sendAway) {
      waiting.add(sendAway)
      return () => waiting.delete(sendAway)
    },
    close() {
      isOpen = false
      for (const sendAway of [...waiting]) sendAway()
    },
    open() {
      isOpen = true
    },
  }
}
