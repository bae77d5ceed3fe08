// Answers a request with a file of a built site, compressed as the browser can read it.
import type { Context } from 'koa'
import type { SiteFile } from '../web/built-site.ts'

/** `forever`: the file's name changes with its content, so browsers need not ask again. */
export type Caching = 'forever' | 'ask each time'

export function serveSiteFile(ctx: Context, file: SiteFile, caching: Caching): void {
  ctx.status = 200
  ctx.set('ETag', file.etag)
  ctx.set('Cache-Control', caching === 'forever' ? 'public, max-age=31536000, immutable' : 'no-cache')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.vary('Accept-Encoding')
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity')
  const compressed = encoding === 'br' ? file.brotli : encoding === 'gzip' ? file.gzip : null
  if (compressed !== null) ctx.set('Content-Encoding', encoding || 'identity')
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

export function setPageSecurityHeaders(ctx: Context): void {
  ctx.set('Content-Security-Policy', STRICT_CONTENT_SECURITY_POLICY)
  ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
  ctx.set('Referrer-Policy', 'same-origin')
  ctx.set('X-Content-Type-Options', 'nosniff')
}
