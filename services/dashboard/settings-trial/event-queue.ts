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
  if (event.what === 'end' || event.what === 'refund') return 1
  return isRefused(event.result) ? 2 : 0
}

const isBefore = (one: Queued, other: Queued): boolean =>
  (one.event.at - other.event.at || rankOf(one.event) - rankOf(other.event) || one.nth - other.nth) < 0

/** A binary heap. */
export function createEventQueue(): EventQueue {
  const heap: Queued[] = []
  let added = 0

  function swap(one: number, other: number): void {
    ;[heap[one], heap[other]] = [heap[other] as Queued, heap[one] as Queued]
  }

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
      const children = [2 * at + 1, 2 * at + 2].filter(child => child < heap.length)
      const least = children.reduce(
        (best, child) => (isBefore(heap[child] as Queued, heap[best] as Queued) ? child : best),
        at,
      )
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
