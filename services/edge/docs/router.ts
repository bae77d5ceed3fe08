// GET /openapi.json and GET /docs. Both are made once and served from memory, with a tag so that nobody fetches them twice.
import { createHash } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Config } from '../../../infra/config/config.ts'
import { openApiDocument } from '../openapi/document.ts'
import { API } from '../router.ts'
import { referencePage } from './page.ts'
import { STYLE } from './style.ts'

export function referenceRouter({ publicUrl, port }: Pick<Config['http'], 'publicUrl' | 'port'>): Router {
  const document = openApiDocument(`${publicUrl ?? ''}${API}`)
  const page = referencePage(document, `${publicUrl ?? `http://localhost:${port}`}${API}`)
  const router = new Router({ sensitive: true })
  router.get('/openapi.json', served(JSON.stringify(document), 'application/json', forAnyone))
  router.get('/docs', served(page, 'text/html; charset=utf-8', guarded))
  return router
}

const MAX_AGE_SECONDS = 300

function served(text: string, type: string, more: (ctx: Context) => void): Middleware {
  const tag = `"${digest(text)}"`
  return ctx => {
    ctx.status = 200
    ctx.set('ETag', tag)
    ctx.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`)
    ctx.set('X-Content-Type-Options', 'nosniff')
    more(ctx)
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    ctx.body = text
    ctx.set('Content-Type', type)
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

/** Tools that run in a page read it as well. */
const forAnyone = (ctx: Context): void => ctx.set('Access-Control-Allow-Origin', '*')

/** The page may show itself and do nothing else: its one style is named by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${digest(STYLE)}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function guarded(ctx: Context): void {
  ctx.set('Content-Security-Policy', POLICY)
  ctx.set('Referrer-Policy', 'no-referrer')
}
