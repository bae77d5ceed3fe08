// GET /openapi.json and GET /docs. Both are built at the first request and served from memory, with an ETag for clients that have them
// already.
import { createHash } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Config } from '../../../infra/config/config.ts'
import type { ApiPart } from '../../../infra/openapi/operation.ts'
import { createProductDocument } from '../../domain/openapi/document.ts'
import { renderReferencePage } from './page.ts'
import { STYLE } from './style.ts'

export interface ReferenceDeps {
  http: Pick<Config['http'], 'publicUrl' | 'port'>
  parts: readonly ApiPart[]
}

export function createReferenceRouter({ http: { publicUrl, port }, parts }: ReferenceDeps): Router {
  const createDocument = once(() =>
    createProductDocument(parts, { url: publicUrl ?? '/', description: 'This deployment.' }),
  )
  const router = new Router({ sensitive: true })
  router.get(
    '/openapi.json',
    serveText(() => JSON.stringify(createDocument()), 'application/json', allowAnyOrigin),
  )
  router.get(
    '/docs',
    serveText(
      () => renderReferencePage(createDocument(), publicUrl ?? `http://localhost:${port}`),
      'text/html; charset=utf-8',
      setSecurityHeaders,
    ),
  )
  return router
}

const once = <T>(create: () => T): (() => T) => {
  let created: { value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

const MAX_AGE_SECONDS = 300

function serveText(createText: () => string, type: string, setHeaders: (ctx: Context) => void): Middleware {
  const content = once(() => {
    const text = createText()
    return { text, tag: `"${digest(text)}"` }
  })
  return ctx => {
    const { text, tag } = content()
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
