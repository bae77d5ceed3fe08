// Shows how long the oldest effect has waited in an outbox, at each scrape. Each sweeper shows the partitions that it sweeps.
import type { Clock } from '../../infra/clock.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { CountersignStore } from '../domain/collections.ts'
import { findDue } from './sweep.ts'

export interface OutboxAgeDeps {
  store: CountersignStore
  clock: Pick<Clock, 'now'>
  metrics: Pick<Metrics, 'beforeScrape' | 'outboxOldest'>
  /** Those that this process sweeps now. */
  partitions(): readonly number[]
}

export function showOutbox({ store, clock, metrics, partitions }: OutboxAgeDeps): void {
  metrics.beforeScrape(async () => {
    const now = clock.now()
    // If the store fails, no age is shown: the last one would look like a measured one.
    metrics.outboxOldest.remove()
    // Where the broker is away, a batch of those that wait says enough.
    const waiting = await findDue(store.docs('otps'), partitions(), 'outbox_at', now)
    const oldest = Math.min(now, ...waiting.flatMap(({ outbox }) => outbox.map(({ at }) => at)))
    metrics.outboxOldest.set((now - oldest) / 1000)
  })
}
