// In: the readiness of each part. Out: /healthz, whether the process is alive, and /readyz, whether it can take work.
import { Router } from '@koa/router'

/** The parts of a process, and whether each can work now. */
export type Readiness = Record<string, 'up' | 'blocked' | 'down'>

export function createHealthRouter(readiness: () => Promise<Readiness>): Router {
  const router = new Router({ sensitive: true })
  router.get('/healthz', ctx => {
    ctx.body = { status: 'alive' }
  })
  router.get('/readyz', async ctx => {
    const parts = await readiness()
    const ready = Object.values(parts).every(state => state === 'up')
    ctx.status = ready ? 200 : 503
    ctx.body = { status: ready ? 'ready' : 'not ready', parts }
  })
  return router
}
