// GET /openapi.json, the pages of /docs, also as Markdown and listed in /llms.txt, the index of their search and their files. All texts are
// made at the first request, compressed when they are first asked for, and served from memory.
import { Router } from '@koa/router'
import type { Context } from 'koa'
import type { Config } from '../../../infra/config/config.ts'
import { compressText } from '../../../infra/http/compressed-text.ts'
import { type Caching, serveSiteFile, setPageSecurityHeaders } from '../../../infra/http/site-files.ts'
import type { ApiPart } from '../../../infra/openapi/operation.ts'
import { readBuiltSite, type SiteFile } from '../../../infra/web/built-site.ts'
import { createProductDocument } from '../../domain/openapi/document.ts'
import { assetTags, createAssetRouter } from './assets.ts'
import { FRONT_PATH } from './front-path.ts'
import { createReference, type ScreenLink } from './reference.ts'

export interface ReferenceDeps {
  http: Pick<Config['http'], 'publicUrl' | 'port'>
  parts: readonly ApiPart[]
  /** The screens of the dashboard that this process serves. */
  screens: readonly ScreenLink[]
}

export function createReferenceRouter({ http: { publicUrl, port }, parts, screens }: ReferenceDeps): Router {
  const site = readBuiltSite('docs')
  const createDocument = once(() =>
    createProductDocument(parts, { url: publicUrl ?? '/', description: 'This deployment.' }),
  )
  const base = { url: publicUrl?.replace(/\/$/, '') ?? `http://localhost:${port}`, known: publicUrl !== null }
  const reference = once(() => createReference({ document: createDocument(), base, screens, assets: assetTags(site) }))
  const files = new Map<string, Promise<SiteFile>>()
  const serve = async (ctx: Context, write: () => string, type: string, caching: Caching): Promise<void> => {
    const file = files.get(ctx.path) ?? compressText(write(), type)
    files.set(ctx.path, file)
    serveSiteFile(ctx, await file, caching)
  }

  const router = new Router({ sensitive: true })
  router.get('/openapi.json', ctx => {
    // Tools in web pages read the document too.
    ctx.set('Access-Control-Allow-Origin', '*')
    return serve(ctx, () => JSON.stringify(createDocument()), 'application/json', 'five minutes')
  })
  router.get(`${FRONT_PATH}/search.json`, ctx =>
    serve(ctx, () => JSON.stringify(reference().searchEntries), 'application/json', 'ask each time'),
  )
  router.get('/llms.txt', ctx => serve(ctx, () => reference().llmsTxt, 'text/plain; charset=utf-8', 'five minutes'))
  router.get(`${FRONT_PATH}/:page.md`, async ctx => {
    const page = reference().markdown.get(ctx.path)
    if (page !== undefined) await serve(ctx, page, 'text/markdown; charset=utf-8', 'five minutes')
  })
  router.get([FRONT_PATH, `${FRONT_PATH}/:page`], async ctx => {
    const page = reference().pages.get(ctx.path)
    if (page === undefined) return
    setPageSecurityHeaders(ctx)
    // A page that is kept longer would ask for the files of an earlier build.
    await serve(ctx, () => page, 'text/html; charset=utf-8', 'ask each time')
  })
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
