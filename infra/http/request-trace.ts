// In: a request that the HTTP shell has given an id. Out: its trace, for the messages that it causes.
import type { Context } from 'koa'
import { parseTraceparent, type Trace } from '../trace.ts'

export const traceOf = (ctx: Context): Trace => ({
  request_id: ctx.state.requestId,
  traceparent: parseTraceparent(ctx.get('traceparent')),
})
