// The HTTP shell every process has: request ids, one log line and one measurement per request, problem+json for whatever is
// thrown below, 404 and 405 in the same shape. Routers are mounted inside; none of them repeats any of this.
import { randomUUID } from 'node:crypto'
import type { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { asProblem, httpException, problemBody } from './problem.ts'

export interface ShellDeps {
  log: Logger
  metrics: Pick<Metrics, 'httpRequestDuration'>
  clock: Pick<Clock, 'now'>
}

export function createHttpShell({ log, metrics, clock }: ShellDeps, routers: readonly Router[]): Koa {
  const app = new Koa()
  app.use(assignRequestId)
  app.use(createLogAndMeasure(log, metrics, clock))
  app.use(createAnswerProblems(log))
  app.use(refuseUnrouted)
  for (const router of routers) app.use(router.routes())
  // What fails after the response has begun (a client that hangs up in mid-body) cannot become a problem any more.
  app.on('error', error => log.debug({ err: error }, 'http.aborted'))
  return app
}

const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,128}$/

const assignRequestId: Middleware = (ctx, next) => {
  const given = ctx.get('x-request-id')
  ctx.state.requestId = WELL_FORMED_ID.test(given) ? given : randomUUID()
  ctx.set('X-Request-Id', ctx.state.requestId)
  return next()
}

const createLogAndMeasure =
  (log: Logger, metrics: ShellDeps['metrics'], clock: ShellDeps['clock']): Middleware =>
  async (ctx, next) => {
    const started = clock.now()
    await next()
    const route = routeOf(ctx)
    const ms = clock.now() - started
    metrics.httpRequestDuration.observe(
      { method: knownMethod(ctx.method), route, status: String(ctx.status) },
      ms / 1000,
    )
    log[POLLED_ROUTES.has(route) ? 'debug' : 'info'](
      { request_id: ctx.state.requestId, method: ctx.method, route, status: ctx.status, ms },
      'http.answered',
    )
  }

const createAnswerProblems =
  (log: Logger): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const failure = asProblem(thrown)
      if (failure.status >= 500) logFailure(log, thrown, failure.status, ctx.state.requestId)
      ctx.status = failure.status
      ctx.set(failure.extras.headers ?? {})
      ctx.body = problemBody(failure, ctx.state.requestId)
      ctx.type = 'application/problem+json'
    }
  }

/** An overload is many 503s: each says why, none where. */
function logFailure(log: Logger, thrown: unknown, status: number, request_id: string): void {
  if (status === 503) log.warn({ why: String(thrown), request_id }, 'http.unavailable')
  else log.error({ err: thrown, request_id }, 'http.failed')
}

const refuseUnrouted: Middleware = async (ctx, next) => {
  // A proxy's way to ask; the routers' URL parser warns of a broken one, and will throw.
  if (/^\w+:/.test(ctx.url) && !URL.canParse(ctx.url)) throw httpException(400, 'The address is not a URL.')
  await next()
  if (ctx.status !== 404 || ctx.body != null) return
  const allowed = [...new Set(matchedLayers(ctx).flatMap(layer => layer.methods))].sort()
  // The method too is taken there when a handler declined what it was asked for.
  if (allowed.length === 0 || allowed.includes(ctx.method))
    throw httpException(404, 'There is nothing at this address.')
  if (ctx.method === 'OPTIONS') {
    ctx.set('Allow', [...allowed, 'OPTIONS'].join(', '))
    ctx.status = 204
    return
  }
  const allow = allowed.join(', ')
  throw httpException(405, `This address takes ${allow}.`, { Allow: allow })
}

/** Every route and middleware at this path, whatever its method, over all routers. */
const matchedLayers = (ctx: Context): { path: string | RegExp; methods: string[] }[] => ctx.matched ?? []

/** The route's pattern, never the path: paths hold ids, and a metric label must be bounded. Not the router's own idea of it,
 *  which is that of the middleware when one refuses. */
const routeOf = (ctx: Context): string => {
  const route = matchedLayers(ctx).findLast(layer => layer.methods.includes(ctx.method))
  return typeof route?.path === 'string' ? route.path : 'none'
}

/** Asked every few seconds by machines. */
const POLLED_ROUTES = new Set(['/healthz', '/readyz', '/metrics'])

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (METHODS.has(method) ? method : 'other')
