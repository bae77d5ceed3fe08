// In: a request that the HTTP shell has given an id. Out: its trace, for the messages that it causes.
import type { Context } from 'koa'
import { parseTraceparent, type Trace } from '../trace.ts'

/** Where spans are recorded, the request's own span is in `ctx.state.trace`. */
export const traceOf = (ctx: Context): Trace =>
  ctx.state.trace ?? { request_id: ctx.state.requestId, traceparent: parseTraceparent(ctx.get('traceparent')) }
