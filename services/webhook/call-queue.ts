// A short queue in memory before each endpoint, for events that are claimed already: an endpoint that answers frees a slot within
// moments, and to put an event into the store's backlog for moments costs more than to send it. Whoever has waited too long is shown
// out: its endpoint does not answer, and the store is the better place.
import type { Clock } from '../../infra/clock.ts'
import type { EventDoc } from '../domain/webhooks/documents.ts'
import type { Endpoint } from './endpoints.ts'

export interface QueuedEvent {
  event: EventDoc
  endpoint: Endpoint
}

export interface CallQueue {
  /** Keeps a seat for one more, if there is one. */
  reserve(app_id: string): boolean
  unreserve(app_id: string): void
  /** Takes the seat that was kept. */
  enqueue(one: QueuedEvent): void
  /** Who has waited longest; the seat is free again. */
  dequeue(app_id: string): QueuedEvent | undefined
  /** Shows everybody out, and whoever still comes. */
  close(): void
}

export interface CallQueueDeps {
  clock: Clock
  /** Those who have waited too long, of one app. */
  onExpired(expired: QueuedEvent[]): void
}

const MAX_QUEUED_PER_APP = 500
const MAX_QUEUED = 5_000
const MAX_QUEUE_MS = 2_000

interface AppQueue {
  reserved: number
  waiting: { one: QueuedEvent; queuedAt: number }[]
  timerSet: boolean
}

export function createCallQueue({ clock, onExpired }: CallQueueDeps): CallQueue {
  const queues = new Map<string, AppQueue>()
  let totalReserved = 0
  let closed = false

  function releasePlace(app_id: string, queue: AppQueue): void {
    queue.reserved -= 1
    totalReserved -= 1
    if (queue.reserved === 0 && !queue.timerSet) queues.delete(app_id)
  }

  /** Those who sat down until then. */
  function expire(app_id: string, queue: AppQueue, until: number): void {
    const after = queue.waiting.findIndex(({ queuedAt }) => queuedAt > until)
    const expired = queue.waiting.splice(0, after < 0 ? queue.waiting.length : after)
    for (const _ of expired) releasePlace(app_id, queue)
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
      if (queue.reserved >= MAX_QUEUED_PER_APP || totalReserved >= MAX_QUEUED) return false
      queues.set(app_id, queue)
      queue.reserved += 1
      totalReserved += 1
      return true
    },
    unreserve(app_id) {
      const queue = queues.get(app_id)
      if (queue) releasePlace(app_id, queue)
    },
    enqueue(one) {
      const queue = queues.get(one.event.app_id)
      if (!queue) throw new Error('no seat was kept')
      queue.waiting.push({ one, queuedAt: clock.now() })
      if (closed) expire(one.event.app_id, queue, clock.now())
      else setTimer(one.event.app_id, queue)
    },
    dequeue(app_id) {
      const queue = queues.get(app_id)
      const first = queue?.waiting.shift()
      if (queue && first) releasePlace(app_id, queue)
      return first?.one
    },
    close() {
      closed = true
      for (const [app_id, queue] of queues) expire(app_id, queue, clock.now())
    },
  }
}
