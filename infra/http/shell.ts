// The Koa app around all routers of a process. In: routers. Out: an app that gives each request an id, one log line and one measurement,
// and answers every error below it, 404 and 405 included, as problem+json. No router repeats any of this.
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

/** `middleware` runs before the routers. */
export function createHttpShell(
  { log, metrics, clock }: ShellDeps,
  routers: readonly Router[],
  middleware: readonly Middleware[] = [],
): Koa {
  const app = new Koa()
  app.use(assignRequestId)
  app.use(createLogAndMeasure(log, metrics, clock))
  app.use(createAnswerProblems(log))
  for (const step of middleware) app.use(step)
  app.use(refuseUnrouted)
  for (const router of routers) app.use(router.routes())
  // An error after the response has begun, such as a client that hangs up, cannot become a problem any more.
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

/** An overload makes many 503s, so their lines have no stack. */
function logFailure(log: Logger, thrown: unknown, status: number, request_id: string): void {
  if (status === 503) log.warn({ why: String(thrown), request_id }, 'http.unavailable')
  else log.error({ err: thrown, request_id }, 'http.failed')
}

const refuseUnrouted: Middleware = async (ctx, next) => {
  // A proxy may ask with a whole URL. The router's parser warns about a broken one, and will throw in a later version.
  if (/^\w+:/.test(ctx.url) && !URL.canParse(ctx.url)) throw httpException(400, 'The address is not a URL.')
  await next()
  if (ctx.status !== 404 || ctx.body != null) return
  const allowed = [...new Set(matchedLayers(ctx).flatMap(layer => layer.methods))].sort()
  // The method is allowed here if a handler itself declined the request.
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

/** Every route and middleware of all routers that matches the path, with any method. */
const matchedLayers = (ctx: Context): { path: string | RegExp; methods: string[] }[] => ctx.matched ?? []

/** The route's pattern, because a path holds ids and a metric label must take few values. Not `ctx._matchedRoute`: after a middleware
 *  refuses, that is the middleware's pattern. */
const routeOf = (ctx: Context): string => {
  const route = matchedLayers(ctx).findLast(layer => layer.methods.includes(ctx.method))
  return typeof route?.path === 'string' ? route.path : 'none'
}

/** Orchestrators and Prometheus ask these every few seconds. */
const POLLED_ROUTES = new Set(['/healthz', '/readyz', '/metrics'])

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (METHODS.has(method) ? method : 'other')
