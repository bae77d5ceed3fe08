// In: a request. Out: the span of its handling, which continues the caller's trace.
import type { Middleware } from 'koa'
import { scrub } from '../log/scrub.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { asProblem } from './problem.ts'
import { traceOf } from './request-trace.ts'

/** `routeOf` and `isPolled`: of the HTTP shell. */
export const createRequestTracer =
  (
    tracing: Tracing,
    routeOf: (ctx: Parameters<Middleware>[0]) => string,
    isPolled: (path: string) => boolean,
  ): Middleware =>
  async (ctx, next) => {
    if (isPolled(ctx.path)) return next()
    const { method } = ctx
    const span = tracing.begin(method, {
      kind: 'server',
      parent: traceOf(ctx),
      attributes: { 'http.request.method': method },
    })
    ctx.state.trace = span.trace(ctx.state.requestId)
    const end = (status: number): void => {
      const route = routeOf(ctx)
      span.rename(`${method} ${route}`)
      span.set({
        'http.route': route,
        'http.response.status_code': status,
        // The caller may have chosen it: it is recorded as the log has it.
        'countersign.request_id': scrub(ctx.state.requestId),
      })
      span.end()
    }
    try {
      await tracing.within(span, next)
    } catch (error) {
      const { status } = asProblem(error)
      if (status >= 500) span.fail(error)
      end(status)
      throw error
    }
    end(ctx.status)
  }
