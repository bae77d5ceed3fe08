// The trace of a request, for the messages that it causes, and the span of its handling where spans are recorded. The
// span continues the trace of a caller that is trusted, and is recorded if that is, as far as the sampler looks at it.
// The span of any other request begins a trace, with a link to its caller's: else a stranger could make us record every
// request, or mix them into other traces, with a header (W3C Trace Context, "Denial of Service").
import type { Context, Middleware } from 'koa'
import { scrub } from '../log/scrub.ts'
import { parseTraceparent, type Trace } from '../trace.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { asProblem } from './problem.ts'

/** The trace of a request that the HTTP shell has given an id. Where spans are recorded, the request's own span is in `ctx.state.trace`. */
export const traceOf = (ctx: Context): Trace =>
  ctx.state.trace ?? { request_id: ctx.state.requestId, traceparent: parseTraceparent(ctx.get('traceparent')) }

/** In: the header `Authorization`. */
export type TrustsCaller = (authorization: string) => Promise<boolean>

/** `routeOf` and `isPolled`: of the HTTP shell. */
export const createRequestTracer =
  (
    tracing: Tracing,
    routeOf: (ctx: Parameters<Middleware>[0]) => string,
    isPolled: (path: string) => boolean,
    trustsCaller: TrustsCaller,
  ): Middleware =>
  async (ctx, next) => {
    if (isPolled(ctx.path)) return next()
    const { method } = ctx
    const caller = traceOf(ctx)
    const continues = caller.traceparent !== null && (await trustsCaller(ctx.get('authorization')))
    const span = tracing.begin(method, {
      kind: 'server',
      parent: continues ? caller : null,
      attributes: { 'http.request.method': method },
    })
    if (!continues) span.link(caller)
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
