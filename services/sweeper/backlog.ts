// Shows what waits (services/domain/backlog/backlog.ts): at each scrape, and as JSON at `GET /backlog` of METRICS_PORT,
// so that a scaler needs neither Prometheus nor a login to the broker.
import { Router } from '@koa/router'
import { isoTime } from '../../infra/iso-time.ts'
import type { Metrics } from '../../infra/metrics.ts'
import { CHANNELS } from '../../machines/channels.ts'
import type { Backlog } from '../domain/backlog/backlog.ts'

export interface ShowBacklogDeps {
  readBacklog(): Promise<Backlog>
  metrics: Pick<Metrics, 'beforeScrape' | 'deliveriesOwed' | 'deliveriesOwedOldest' | 'eventsOwed' | 'eventsOwedOldest'>
  /** One process shows the figures of all. */
  isShown(): boolean
}

export function showBacklog({ readBacklog, metrics, isShown }: ShowBacklogDeps): void {
  const { deliveriesOwed, deliveriesOwedOldest, eventsOwed, eventsOwedOldest } = metrics
  metrics.beforeScrape(async () => {
    // If the store fails, nothing is shown: the last figure would look like a measured one.
    for (const gauge of [deliveriesOwed, deliveriesOwedOldest]) gauge.reset()
    for (const gauge of [eventsOwed, eventsOwedOldest]) gauge.remove()
    if (!isShown()) return
    const { channels, events } = await readBacklog()
    for (const channel of CHANNELS) {
      deliveriesOwed.set({ channel }, channels[channel].owed)
      deliveriesOwedOldest.set({ channel }, channels[channel].oldest_seconds)
    }
    eventsOwed.set(events.owed)
    eventsOwedOldest.set(events.oldest_seconds)
  })
}

/** Any sweeper answers for all. */
export function createBacklogRouter(readBacklog: ShowBacklogDeps['readBacklog']): Router {
  const router = new Router({ sensitive: true })
  router.get('/backlog', async ctx => {
    const { at, channels, events } = await readBacklog()
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { at: isoTime(at), channels, events }
  })
  return router
}
