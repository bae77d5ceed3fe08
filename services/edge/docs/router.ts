// GET /openapi.json, GET /docs and the files of /docs. Both texts are built and compressed at the first request and served from memory.
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Config } from '../../../infra/config/config.ts'
import { compressText } from '../../../infra/http/compressed-text.ts'
import { type Caching, serveSiteFile, setPageSecurityHeaders } from '../../../infra/http/site-files.ts'
import type { ApiPart } from '../../../infra/openapi/operation.ts'
import { readBuiltSite, type SiteFile } from '../../../infra/web/built-site.ts'
import { createProductDocument } from '../../domain/openapi/document.ts'
import { assetTags, createAssetRouter } from './assets.ts'
import { renderReferencePage } from './page.ts'

export interface ReferenceDeps {
  http: Pick<Config['http'], 'publicUrl' | 'port'>
  parts: readonly ApiPart[]
}

export function createReferenceRouter({ http: { publicUrl, port }, parts }: ReferenceDeps): Router {
  const site = readBuiltSite('docs')
  const createDocument = once(() =>
    createProductDocument(parts, { url: publicUrl ?? '/', description: 'This deployment.' }),
  )
  const base = { url: publicUrl?.replace(/\/$/, '') ?? `http://localhost:${port}`, known: publicUrl !== null }
  const router = new Router({ sensitive: true })
  router.get(
    '/openapi.json',
    serveText(() => compressText(JSON.stringify(createDocument()), 'application/json'), 'five minutes', allowAnyOrigin),
  )
  router.get(
    '/docs',
    serveText(
      () =>
        compressText(
          renderReferencePage({ document: createDocument(), base, assets: assetTags(site) }),
          'text/html; charset=utf-8',
        ),
      // A page that is kept longer would ask for the files of an earlier build.
      'ask each time',
      setPageSecurityHeaders,
    ),
  )
  router.use(createAssetRouter(site).routes())
  return router
}

const once = <T>(create: () => T): (() => T) => {
  let created: { value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

function serveText(create: () => Promise<SiteFile>, caching: Caching, setHeaders: (ctx: Context) => void): Middleware {
  const file = once(create)
  return async ctx => {
    setHeaders(ctx)
    serveSiteFile(ctx, await file(), caching)
  }
}

/** Tools in web pages read the document too. */
const allowAnyOrigin = (ctx: Context): void => ctx.set('Access-Control-Allow-Origin', '*')
