// A short queue in memory for each app's endpoint, for events whose attempts are started and that wait for a slot. In: events. Out: the
// event that has waited longest, when a slot is free. An endpoint that answers frees a slot within moments, and a detour through the
// backlog in the store would cost more than the call. An event that waits too long leaves the queue for the backlog.
import type { Clock } from '../../infra/clock.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { Endpoint } from './endpoints.ts'

export interface QueuedEvent {
  event: EventDoc
  endpoint: Endpoint
}

export interface SlotQueue {
  /** Reserves a seat for one event; false when all seats are taken. */
  reserve(app_id: string): boolean
  unreserve(app_id: string): void
  /** Puts an event on the seat that was reserved for it. */
  enqueue(one: QueuedEvent): void
  /** Takes the event that has waited longest, and frees its seat. */
  dequeue(app_id: string): QueuedEvent | undefined
  /** Expires all events in the queue. */
  expireAll(): void
}

export interface SlotQueueDeps {
  clock: Clock
  /** Receives events of one app that have waited too long. */
  onExpired(expired: QueuedEvent[]): void
}

const MAX_QUEUED_PER_APP = 500
const MAX_QUEUED = 5_000
const MAX_QUEUE_MS = 2_000

interface AppQueue {
  /** Seats that are taken or reserved. */
  reserved: number
  waiting: { one: QueuedEvent; queuedAt: number }[]
  timerSet: boolean
}

export function createSlotQueue({ clock, onExpired }: SlotQueueDeps): SlotQueue {
  const queues = new Map<string, AppQueue>()
  let reservedInAll = 0

  function freeSeat(app_id: string, queue: AppQueue): void {
    queue.reserved -= 1
    reservedInAll -= 1
    if (queue.reserved === 0 && !queue.timerSet) queues.delete(app_id)
  }

  /** Expires the events that were queued at `until` or before. */
  function expire(app_id: string, queue: AppQueue, until: number): void {
    const after = queue.waiting.findIndex(({ queuedAt }) => queuedAt > until)
    const expired = queue.waiting.splice(0, after < 0 ? queue.waiting.length : after)
    for (const _ of expired) freeSeat(app_id, queue)
    if (expired.length > 0) onExpired(expired.map(({ one }) => one))
  }

  function setTimer(app_id: string, queue: AppQueue): void {
    if (queue.timerSet) return
    queue.timerSet = true
    const queuedAt = queue.waiting[0]?.queuedAt ?? clock.now()
    clock.after(queuedAt + MAX_QUEUE_MS - clock.now(), () => {
      queue.timerSet = false
      expire(app_id, queue, clock.now() - MAX_QUEUE_MS)
      if (queue.waiting.length > 0) setTimer(app_id, queue)
      else if (queue.reserved === 0) queues.delete(app_id)
    })
  }

  return {
    reserve(app_id) {
      const queue = queues.get(app_id) ?? { reserved: 0, waiting: [], timerSet: false }
      if (queue.reserved >= MAX_QUEUED_PER_APP || reservedInAll >= MAX_QUEUED) return false
      queues.set(app_id, queue)
      queue.reserved += 1
      reservedInAll += 1
      return true
    },
    unreserve(app_id) {
      const queue = queues.get(app_id)
      if (queue) freeSeat(app_id, queue)
    },
    enqueue(one) {
      const queue = queues.get(one.event.app_id)
      if (!queue) throw new Error('no seat was reserved')
      queue.waiting.push({ one, queuedAt: clock.now() })
      setTimer(one.event.app_id, queue)
    },
    dequeue(app_id) {
      const queue = queues.get(app_id)
      const first = queue?.waiting.shift()
      if (queue && first) freeSeat(app_id, queue)
      return first?.one
    },
    expireAll() {
      for (const [app_id, queue] of queues) expire(app_id, queue, Number.POSITIVE_INFINITY)
    },
  }
}
