// The HTTP shell every process has: request ids, one log line and one measurement per request, problem+json for whatever is
// thrown below, 404 and 405 in the same shape. Routers are mounted inside; none of them repeats any of this.
import { randomUUID } from 'node:crypto'
import type { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { asProblem, httpException, problemBody } from './problem.ts'

export interface ShellParts {
  log: Logger
  metrics: Pick<Metrics, 'httpRequestDuration'>
  clock: Pick<Clock, 'now'>
}

export function httpShell({ log, metrics, clock }: ShellParts, routers: readonly Router[]): Koa {
  const app = new Koa()
  app.use(requestId)
  app.use(account(log, metrics, clock))
  app.use(problems(log))
  app.use(unrouted)
  for (const router of routers) app.use(router.routes())
  // What fails after the response has begun (a client that hangs up in mid-body) cannot become a problem any more.
  app.on('error', error => log.debug({ err: error }, 'http.aborted'))
  return app
}

const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,128}$/

const requestId: Middleware = (ctx, next) => {
  const given = ctx.get('x-request-id')
  ctx.state.requestId = WELL_FORMED_ID.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  return next()
}

const account =
  (log: Logger, metrics: ShellParts['metrics'], clock: ShellParts['clock']): Middleware =>
  async (ctx, next) => {
    const started = clock.now()
    await next()
    const route = routeOf(ctx)
    const ms = clock.now() - started
    metrics.httpRequestDuration.observe(
      { method: knownMethod(ctx.method), route, status: String(ctx.status) },
      ms / 1000,
    )
    const level = route.startsWith('/healthz') || route.startsWith('/readyz') || route === '/metrics' ? 'debug' : 'info'
    log[level]({ request_id: ctx.state.requestId, method: ctx.method, route, status: ctx.status, ms }, 'http.answered')
  }

const problems =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const failure = asProblem(thrown)
      if (failure.status >= 500) log.error({ err: thrown, request_id: ctx.state.requestId }, 'http.failed')
      ctx.status = failure.status
      ctx.set(failure.extras.headers ?? {})
      ctx.body = problemBody(failure, ctx.state.requestId)
      ctx.type = 'application/problem+json'
    }
  }

const unrouted: Middleware = async (ctx, next) => {
  await next()
  if (ctx.routeMatched || ctx.status !== 404 || ctx.body != null) return
  const allowed = [...new Set(matchedLayers(ctx).flatMap(layer => layer.methods))].sort()
  if (allowed.length === 0) throw httpException(404, 'There is nothing at this address.')
  const allow = allowed.join(', ')
  throw httpException(405, `This address takes ${allow}.`, { Allow: allow })
}

const matchedLayers = (ctx: Context): { methods: string[] }[] => ctx.matched ?? []

/** The route's pattern, never the path: paths hold ids, and a metric label must be bounded. */
const routeOf = (ctx: Context): string =>
  typeof ctx._matchedRoute === 'string' && ctx.routeMatched ? ctx._matchedRoute : 'none'

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (METHODS.has(method) ? method : 'other')
