// Serves /metrics to Prometheus: to everyone on METRICS_PORT, and with an operator's token on the public port.
import { Router } from '@koa/router'
import type { Metrics } from '../metrics.ts'
import type { IdentifyOperator } from './operators.ts'

export function createMetricsRouter(metrics: Pick<Metrics, 'render'>, identifyOperator?: IdentifyOperator): Router {
  const router = new Router({ sensitive: true })
  router.get('/metrics', async ctx => {
    identifyOperator?.(ctx)
    const { contentType, body } = await metrics.render()
    ctx.body = body
    ctx.set('Content-Type', contentType)
  })
  return router
}
