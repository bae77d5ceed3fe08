// GET /openapi.json and GET /docs. Both are built once and served from memory, with an ETag for clients that have them already.
import { createHash } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Config } from '../../../infra/config/config.ts'
import { createOpenApiDocument } from '../openapi/document.ts'
import { API } from '../router.ts'
import { renderReferencePage } from './page.ts'
import { STYLE } from './style.ts'

export function createReferenceRouter({ publicUrl, port }: Pick<Config['http'], 'publicUrl' | 'port'>): Router {
  const document = createOpenApiDocument(`${publicUrl ?? ''}${API}`)
  const page = renderReferencePage(document, `${publicUrl ?? `http://localhost:${port}`}${API}`)
  const router = new Router({ sensitive: true })
  router.get('/openapi.json', serveText(JSON.stringify(document), 'application/json', allowAnyOrigin))
  router.get('/docs', serveText(page, 'text/html; charset=utf-8', setSecurityHeaders))
  return router
}

const MAX_AGE_SECONDS = 300

function serveText(text: string, type: string, setHeaders: (ctx: Context) => void): Middleware {
  const tag = `"${digest(text)}"`
  return ctx => {
    ctx.status = 200
    ctx.set('ETag', tag)
    ctx.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`)
    ctx.set('X-Content-Type-Options', 'nosniff')
    setHeaders(ctx)
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.body = text
    ctx.set('Content-Type', type)
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Tools in web pages read the document too. */
const allowAnyOrigin = (ctx: Context): void => ctx.set('Access-Control-Allow-Origin', '*')

/** The page may use its one style, which is allowed by its hash, and nothing else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${digest(STYLE)}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function setSecurityHeaders(ctx: Context): void {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
}
