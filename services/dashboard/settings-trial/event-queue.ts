// Events in the order of time. In: events in any order. Out: the earliest. Of events of one time, what was accepted comes before what was
// refused: a limit is full because of what was accepted.
import { isRefused, type PastEvent } from '../../../machines/replay.calls.ts'

interface Queued {
  event: PastEvent
  /** Keeps the order of what is alike. */
  nth: number
}

export interface EventQueue {
  add(event: PastEvent): void
  /** The earliest event before `time`; undefined when there is none. */
  takeBefore(time: number): PastEvent | undefined
}

const rankOf = (event: PastEvent): number => {
  if (event.what !== 'send' && event.what !== 'resend') return 1
  return isRefused(event.result) ? 2 : 0
}

const isBefore = (one: Queued, other: Queued): boolean =>
  (one.event.at - other.event.at || rankOf(one.event) - rankOf(other.event) || one.nth - other.nth) < 0

/** A binary heap. */
export function createEventQueue(): EventQueue {
  const heap: Queued[] = []
  let added = 0

  function swap(one: number, other: number): void {
    const moved = heap[one] as Queued
    heap[one] = heap[other] as Queued
    heap[other] = moved
  }

  /** The place of the earlier one; the second place may be beyond the end. */
  const earlier = (one: number, other: number): number =>
    other < heap.length && isBefore(heap[other] as Queued, heap[one] as Queued) ? other : one

  function rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1
      if (!isBefore(heap[at] as Queued, heap[parent] as Queued)) return
      swap(at, parent)
      at = parent
    }
  }

  function sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1
      const least = earlier(earlier(at, left), left + 1)
      if (least === at) return
      swap(at, least)
      at = least
    }
  }

  return {
    add(event) {
      heap.push({ event, nth: added })
      added += 1
      rise(heap.length - 1)
    },
    takeBefore(time) {
      const first = heap[0]
      if (first === undefined || first.event.at >= time) return undefined
      const last = heap.pop() as Queued
      if (heap.length > 0) {
        heap[0] = last
        sink()
      }
      return first.event
    },
  }
}
