// What web pages of other origins may do. Only paths that take publishable keys answer them. A preflight carries no key, so it is allowed
// for every origin; it permits the request, not the reading of its answer. Whether the page may read the answer is decided once the
// key is known. No path uses cookies, so a page without a key gets nothing.
import type { Context, Middleware } from 'koa'
import { REPLAYED_HEADER } from './schemas.requests.ts'

const REQUEST_HEADERS = 'authorization, challenge-solution, content-type, idempotency-key, x-request-id'
const READABLE_HEADERS = `${REPLAYED_HEADER}, Retry-After, X-Request-Id`
/** Two hours, the longest time that browsers honour. The answer is always the same. */
const PREFLIGHT_CACHE_SECONDS = '7200'

export const createPreflight =
  (method: 'GET' | 'POST'): Middleware =>
  ctx => {
    ctx.status = 204
    ctx.set('Allow', method === 'GET' ? 'GET, HEAD, OPTIONS' : 'OPTIONS, POST')
    if (!allowOrigin(ctx)) return
    ctx.set('Access-Control-Allow-Methods', method)
    ctx.set('Access-Control-Allow-Headers', REQUEST_HEADERS)
    ctx.set('Access-Control-Max-Age', PREFLIGHT_CACHE_SECONDS)
  }

/** Runs before the key is known, so that a page can read why its key was refused. */
export const allowCrossOrigin: Middleware = (ctx, next) => {
  if (allowOrigin(ctx)) ctx.set('Access-Control-Expose-Headers', READABLE_HEADERS)
  return next()
}

/** For a server key, which must not be in a page. */
export function removeCorsHeaders(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin')
  ctx.remove('Access-Control-Expose-Headers')
}

function allowOrigin(ctx: Context): boolean {
  ctx.vary('Origin')
  const origin = ctx.get('origin')
  if (origin !== '') ctx.set('Access-Control-Allow-Origin', origin)
  return origin !== ''
}
