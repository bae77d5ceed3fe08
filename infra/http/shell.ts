// The Koa app around all routers of a process. In: routers. Out: an app that gives each request an id, one log line and one measurement,
// and answers every error below it, 404 and 405 included, as problem+json. No router repeats any of this.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Router } from '@koa/router'
import Koa, { type Context, type Middleware } from 'koa'
import type { Clock } from '../clock.ts'
import type { Logger } from '../log/log.ts'
import type { Metrics } from '../metrics.ts'
import { isRequestId } from '../trace.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { answerHeaders } from './answer-headers.ts'
import { answerWithNotFoundPage } from './not-found-page.ts'
import { asProblem, httpException, PROBLEM_TYPE, type Problem, problemBody } from './problem.ts'
import type { RefusalPacing } from './refusal-pacing.ts'
import { requestFields } from './request-log.ts'
import { createRequestTracer, type TrustsCaller } from './request-trace.ts'

export interface ShellDeps {
  log: Logger
  /** The logs of the services that own these routers. A request that none of them takes is logged to `log`. */
  serviceLogs?: ReadonlyMap<Router, Logger>
  metrics: Pick<Metrics, 'httpRequestDuration' | 'httpRequests'>
  clock: Pick<Clock, 'now'>
  /** Where none is given, no spans are recorded. */
  tracing?: Tracing | null
  /** Whose traces are continued: no caller's where none is given. */
  trustsCaller?: TrustsCaller
  /** The address at which clients reach the deployment, if it is known. */
  publicUrl?: string | null
  /** Where none is given, nothing is paced. */
  pacing?: Pick<RefusalPacing, 'pace'>
}

/** `middleware` runs before the routers. */
export function createHttpShell(
  {
    log,
    serviceLogs,
    metrics,
    clock,
    tracing = null,
    trustsCaller = async () => false,
    publicUrl = null,
    pacing,
  }: ShellDeps,
  routers: readonly Router[],
  middleware: readonly Middleware[] = [],
): Koa {
  const app = new Koa()
  Object.defineProperty(app.request, 'query', { get: readQuery })
  const headers = answerHeaders(publicUrl)
  app.use((ctx, next) => {
    ctx.set(headers)
    return next()
  })
  app.use(assignRequestId)
  const logOf = createLogOf(log, serviceLogs)
  app.use(createLogAndMeasure(logOf, metrics, clock))
  app.use(createAnswerProblems(logOf, publicUrl, pacing))
  if (tracing) app.use(createRequestTracer(tracing, routeOf, path => POLLED_ROUTES.has(path), trustsCaller))
  for (const step of middleware) app.use(step)
  app.use(refuseUnrouted)
  for (const router of routers) app.use(router.routes())
  // An error after the response has begun, such as a client that hangs up, cannot become a problem any more.
  app.on('error', (error, ctx?: Context) => {
    log.debug({ ...(ctx ? requestFields(ctx) : {}), err: error }, 'http.aborted')
  })
  return app
}

const queries = new WeakMap<IncomingMessage, Record<string, string | string[]>>()

/** In place of Koa's own, which reads all parameters again for each of them: thousands fit into a request. */
function readQuery(this: Koa.Request): Record<string, string | string[]> {
  const known = queries.get(this.req)
  if (known !== undefined) return known
  const query = new Map<string, string | string[]>()
  for (const [name, value] of new URLSearchParams(this.querystring)) {
    const given = query.get(name)
    if (Array.isArray(given)) given.push(value)
    else query.set(name, given === undefined ? value : [given, value])
  }
  const read = Object.fromEntries(query)
  queries.set(this.req, read)
  return read
}

/** The caller's own, if it is well-formed. */
export const requestIdOf = (given: string | string[] | undefined): string =>
  typeof given === 'string' && isRequestId(given) ? given : randomUUID()

const assignRequestId: Middleware = (ctx, next) => {
  ctx.state.requestId = requestIdOf(ctx.headers['x-request-id'])
  ctx.set('X-Request-Id', ctx.state.requestId)
  return next()
}

/** The log of the service that has answered, or has refused to. */
type LogOf = (ctx: Context) => Logger

function createLogOf(log: Logger, serviceLogs: ReadonlyMap<Router, Logger> = new Map()): LogOf {
  const byLayer = new Map<object, Logger>()
  for (const [router, serviceLog] of serviceLogs) for (const layer of router.stack) byLayer.set(layer, serviceLog)
  return ctx => byLayer.get(matchedLayers(ctx).at(-1) ?? NO_LAYER) ?? log
}

const NO_LAYER = {}

const arrivals = new WeakMap<IncomingMessage, number>()

/** For a request that waits before it comes to the shell: its time is measured from `at`. */
export const noteArrival = (request: IncomingMessage, at: number): void => void arrivals.set(request, at)

/** `now` for a request whose arrival was not noted. */
export const arrivalOf = (request: IncomingMessage, now: number): number => arrivals.get(request) ?? now

const createLogAndMeasure =
  (logOf: LogOf, metrics: ShellDeps['metrics'], clock: ShellDeps['clock']): Middleware =>
  async (ctx, next) => {
    const started = arrivalOf(ctx.req, clock.now())
    await next()
    logAnswer({ log: logOf(ctx), metrics }, requestFields(ctx), {
      method: ctx.method,
      route: routeOf(ctx),
      status: ctx.status,
      error_type: ctx.state.errorType,
      ms: clock.now() - started,
    })
  }

export interface Answered {
  method: string
  route: string
  status: number
  /** The type of a refusal. */
  error_type?: string | undefined
  ms: number
}

/** The measurement and the line of an answered request. */
export function logAnswer(
  { log, metrics }: Pick<ShellDeps, 'log' | 'metrics'>,
  request: object,
  { method, route, status, error_type, ms }: Answered,
): void {
  const measured = { method: knownMethod(method), route: measuredRoute(route) }
  metrics.httpRequestDuration.observe(measured, ms / 1000)
  metrics.httpRequests.inc({ ...measured, status: String(status) })
  const level = POLLED_ROUTES.has(route) ? 'debug' : 'info'
  if (!log.writes(level)) return
  const refused = error_type === undefined ? {} : { error_type }
  log[level]({ ...request, method, route, status, ...refused, ms }, 'http.answered')
}

const createAnswerProblems =
  (logOf: LogOf, publicUrl: string | null, pacing: ShellDeps['pacing']): Middleware =>
  async (ctx, next) => {
    try {
      await next()
    } catch (thrown) {
      const failure = asProblem(thrown, { isRead: READ_METHODS.has(ctx.method) })
      if (pacing && failure.extras.isPaced) await new Promise<void>(resolve => pacing.pace(ctx.req, ctx.res, resolve))
      ctx.state.errorType = failure.type
      if (failure.status >= 500) logFailure(logOf(ctx), thrown, failure.status, ctx)
      ctx.set(failure.extras.headers ?? {})
      const answerInOwnShape: AnswerProblem | undefined = ctx.state.answerProblem
      if (answerInOwnShape) return answerInOwnShape(ctx, failure)
      ctx.status = failure.status
      if (failure.type === 'HTTPException' && failure.status === 404 && isForPerson(ctx)) {
        return answerWithNotFoundPage(ctx)
      }
      ctx.body = problemBody(failure, ctx.state.requestId, publicUrl)
      ctx.set('Content-Type', PROBLEM_TYPE)
    }
  }

/** Answers the problems of operations that another API has given their shape. Such an operation sets it as `ctx.state.answerProblem`. */
export type AnswerProblem = (ctx: Context, failure: Problem) => void

const READ_METHODS = new Set(['GET', 'HEAD'])

/** A browser that opens an address prefers HTML. A program that says nothing, or takes everything, gets the problem. */
const isForPerson = (ctx: Context): boolean =>
  READ_METHODS.has(ctx.method) && ctx.accepts(PROBLEM_TYPE, 'json', 'html') === 'html'

/** An overload makes many 503s, so their lines have no stack. */
function logFailure(log: Logger, thrown: unknown, status: number, ctx: Context): void {
  if (status === 503) log.warn({ ...requestFields(ctx), why: String(thrown) }, 'http.unavailable')
  else log.error({ ...requestFields(ctx), err: thrown }, 'http.failed')
}

const refuseUnrouted: Middleware = async (ctx, next) => {
  // A proxy may ask with a whole URL. The router's parser warns about a broken one, and will throw in a later version.
  if (/^\w+:/.test(ctx.url) && !URL.canParse(ctx.url)) throw httpException(400, 'The address is not a URL.')
  await next()
  if (ctx.status !== 404 || ctx.body != null) return
  const allowed = [...new Set(ownLayers(ctx).flatMap(layer => layer.methods))].sort()
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

/** Every path and middleware of all routers that matches the path, with any method. */
const matchedLayers = (ctx: Context): { path: string | RegExp; methods: string[] }[] => ctx.matched ?? []

/** Without the patterns that would take the last word of this path for an id, where it has one of its own. */
function ownLayers(ctx: Context): { path: string | RegExp; methods: string[] }[] {
  const layers = matchedLayers(ctx).filter(({ methods }) => methods.length > 0)
  const literal = layers.filter(({ path }) => path === ctx.path)
  return literal.length > 0 ? literal : layers
}

/** What logs, metrics and traces call the route: the pattern of the path, which holds ids, and a metric label must take
 *  few values. Not `ctx._matchedRoute`: after a middleware refuses, that is the middleware's pattern. */
const routeOf = (ctx: Context): string => {
  const routes = matchedLayers(ctx)
    .filter(layer => layer.methods.includes(ctx.method))
    .map(({ path }) => (typeof path === 'string' ? path : 'none'))
  // A pattern for everything below a path matches beside the request's own.
  return routes.findLast(path => !path.includes('*')) ?? routes.at(-1) ?? 'none'
}

/** The admin API has more than a hundred operations, which few people use: together they are one. The log has each. */
const measuredRoute = (route: string): string => (route.startsWith(ADMIN_ROUTES) ? `${ADMIN_ROUTES}*` : route)
const ADMIN_ROUTES = '/admin/v1/'

/** Orchestrators and Prometheus ask these every few seconds. */
const POLLED_ROUTES = new Set(['/healthz', '/readyz', '/metrics'])

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const knownMethod = (method: string): string => (METHODS.has(method) ? method : 'other')
