// In: the checks of a process. Out: /healthz, whether the process is alive, and /readyz, whether it can take work, with a reason per check.
import { Router } from '@koa/router'

/** One thing that work needs. `detail` is public, like /readyz itself: it names no address, user or file. */
export interface Check {
  name: string
  ok: boolean
  detail: string
}

export type Readiness = () => Promise<readonly Check[]>

export function createHealthRouter(readiness: Readiness): Router {
  const router = new Router({ sensitive: true })
  router.get('/healthz', ctx => {
    ctx.body = { status: 'alive' }
  })
  router.get('/readyz', async ctx => {
    const checks = await readiness()
    const ready = checks.every(({ ok }) => ok)
    ctx.status = ready ? 200 : 503
    ctx.body = { status: ready ? 'ready' : 'not ready', checks }
  })
  return router
}
