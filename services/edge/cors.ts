// What browsers may do. Only publishable keys belong in a page, so only endpoints that take them answer across origins. A preflight
// carries no key: it is granted to every origin, which gives no more than leave to ask. Whether the page may read the answer
// is decided once the key is known. Cookies never count, so an answer is worth nothing without a key.
import type { Context, Middleware } from 'koa'

const REQUEST_HEADERS = 'authorization, content-type, idempotency-key, x-request-id'
const READABLE_HEADERS = 'Retry-After, X-Request-Id'
/** Two hours, the most that browsers honour. The answer is always the same. */
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

/** Before the key is known, so that a page can read why its key was refused. */
export const allowCrossOrigin: Middleware = (ctx, next) => {
  if (allowOrigin(ctx)) ctx.set('Access-Control-Expose-Headers', READABLE_HEADERS)
  return next()
}

/** A server key has no business in a page, and a foreign page none with this app. */
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
