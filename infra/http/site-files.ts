// Answers a request with a file of a built site, compressed as the browser can read it.
import type { Context } from 'koa'
import type { SiteFile } from '../web/built-site.ts'
import { chooseEncoding } from './large-answers.ts'

const CACHE_CONTROL = {
  /** The file's name changes with its content, so browsers need not ask again. */
  forever: 'public, max-age=31536000, immutable',
  'five minutes': 'public, max-age=300',
  'ask each time': 'no-cache',
}

export type Caching = keyof typeof CACHE_CONTROL

export function serveSiteFile(ctx: Context, file: SiteFile, caching: Caching): void {
  ctx.status = 200
  ctx.set('ETag', file.etag)
  ctx.set('Cache-Control', CACHE_CONTROL[caching])
  const encoding = chooseEncoding(ctx)
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  const compressed = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : null
  if (compressed !== null) ctx.set('Content-Encoding', encoding)
  ctx.body = compressed ?? file.plain
  ctx.set('Content-Type', file.type)
}

/** Pages may load what their own origin serves, and nothing else: no script or style inside the page, no asset from elsewhere, no frame. */
export const STRICT_CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function setPageSecurityHeaders(ctx: Context, policy = STRICT_CONTENT_SECURITY_POLICY): void {
  ctx.set('Content-Security-Policy', policy)
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  // An address may hold a sign-in ticket or a recipient. Changes still have an Origin: fetch in its usual mode (cors) sends it.
  ctx.set('Referrer-Policy', 'no-referrer')
}
