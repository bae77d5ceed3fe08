// Many deadlines on few timers: deadlines within the same few milliseconds share one. No deadline expires early.
import type { Clock } from '../../clock.ts'

export interface Deadlines {
  /** Runs `expire` in `ms`, or up to `stepMs` and a little later; the returned function cancels it. */
  after(ms: number, expire: () => void): () => void
}

interface Slot {
  expiring: Set<() => void>
  cancel: () => void
}

const EARLY_TIMER_MARGIN_MS = 2

export function createDeadlines(clock: Clock, stepMs = 10): Deadlines {
  const slots = new Map<number, Slot>()

  function slotAt(due: number): Slot {
    const known = slots.get(due)
    if (known) return known
    const expiring = new Set<() => void>()
    const cancel = clock.after(due * stepMs - performance.now(), () => {
      slots.delete(due)
      for (const expire of expiring) expire()
    })
    const slot = { expiring, cancel }
    slots.set(due, slot)
    return slot
  }

  return {
    after(ms, expire) {
      // Rounded up, and with a margin, because a timer may fire up to a millisecond early.
      const due = Math.ceil((performance.now() + ms + EARLY_TIMER_MARGIN_MS) / stepMs)
      const slot = slotAt(due)
      slot.expiring.add(expire)
      return () => {
        slot.expiring.delete(expire)
        if (slot.expiring.size > 0 || slots.get(due) !== slot) return
        slots.delete(due)
        slot.cancel()
      }
    },
  }
}
