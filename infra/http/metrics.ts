// Serves /metrics to Prometheus: to everyone on METRICS_PORT, and with METRICS_TOKEN or an operator's token on the public port.
// METRICS_TOKEN opens nothing else, so that a monitoring system need not hold an operator's token.
import { Router } from '@koa/router'
import type { Metrics } from '../metrics.ts'
import type { IdentifyOperator } from './operators.ts'

export function createMetricsRouter(
  metrics: Pick<Metrics, 'render'>,
  identifyOperator?: IdentifyOperator,
  metricsToken: string | null = null,
): Router {
  const router = new Router({ sensitive: true })
  router.get('/metrics', async ctx => {
    identifyOperator?.(ctx, { alsoAccepts: metricsToken })
    const { contentType, body } = await metrics.render()
    ctx.body = body
    ctx.set('Content-Type', contentType)
  })
  return router
}
