// Shows what waits (services/domain/backlog/backlog.ts): at each scrape, and as JSON at `GET /backlog` of METRICS_PORT,
// so that a scaler needs neither Prometheus nor a login to the broker.
import { Router } from '@koa/router'
import { isoTime } from '../../infra/iso-time.ts'
import type { Metrics } from '../../infra/metrics.ts'
import type { Reading } from '../../infra/reading.ts'
import { CHANNELS } from '../../machines/channels.ts'
import type { Backlog } from '../domain/backlog/backlog.ts'

export interface ShowBacklogDeps {
  backlog: Reading<Backlog>
  metrics: Pick<Metrics, 'showReading' | 'deliveriesOwed' | 'deliveriesOwedOldest' | 'eventsOwed' | 'eventsOwedOldest'>
  /** One process shows the figures of all. */
  isShown(): boolean
}

export function showBacklog({ backlog, metrics, isShown }: ShowBacklogDeps): void {
  const { deliveriesOwed, deliveriesOwedOldest, eventsOwed, eventsOwedOldest } = metrics
  metrics.showReading({
    name: 'backlog',
    reading: backlog,
    isShown,
    show(found) {
      for (const gauge of [deliveriesOwed, deliveriesOwedOldest]) gauge.reset()
      for (const gauge of [eventsOwed, eventsOwedOldest]) gauge.remove()
      if (found === null) return
      const { channels, events } = found
      for (const channel of CHANNELS) {
        deliveriesOwed.set({ channel }, channels[channel].owed)
        deliveriesOwedOldest.set({ channel }, channels[channel].oldest_seconds)
      }
      eventsOwed.set(events.owed)
      eventsOwedOldest.set(events.oldest_seconds)
    },
  })
}

/** Any sweeper answers for all. */
export function createBacklogRouter(backlog: Reading<Backlog>): Router {
  const router = new Router({ sensitive: true })
  router.get('/backlog', async ctx => {
    const { at, channels, events } = await backlog.latest()
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { at: isoTime(at), channels, events }
  })
  return router
}
