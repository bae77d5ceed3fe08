// Shows how long the oldest effect has waited in an outbox. Each sweeper shows the partitions that it sweeps.
import type { Clock } from '../../infra/clock.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { createReading } from '../../infra/reading.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { findDue } from './sweep.ts'

export interface OutboxAgeDeps {
  store: CountersignStore
  clock: Clock
  metrics: Pick<Metrics, 'showReading' | 'outboxOldest'>
  /** Those that this process sweeps now. */
  partitions(): readonly number[]
}

export function showOutbox({ store, clock, metrics: { showReading, outboxOldest }, partitions }: OutboxAgeDeps): void {
  async function read(): Promise<number> {
    const now = clock.now()
    // Where the broker is away, a batch of those that wait says enough.
    const waiting = await findDue(store.docs('otps'), partitions(), 'outbox_at', now)
    const oldest = Math.min(now, ...waiting.flatMap(({ outbox }) => outbox.map(({ at }) => at)))
    return (now - oldest) / 1000
  }

  showReading({
    name: 'outbox',
    reading: createReading({ read, clock }),
    show: seconds => (seconds === null ? outboxOldest.remove() : outboxOldest.set(seconds)),
  })
}
