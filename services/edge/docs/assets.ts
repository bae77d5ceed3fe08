// The style and the script of the reference, as `npm run build` made them of web/. In: the built site. Out: the tags of the page's head,
// and the answers at their paths.
import { Router } from '@koa/router'
import { serveSiteFile } from '../../../infra/http/site-files.ts'
import type { BuiltSite } from '../../../infra/web/built-site.ts'

/** The tags that the build wrote into the head of its page: they name the files with the hashes of their contents. */
export function assetTags(site: BuiltSite | null): string {
  const page = site?.get('/index.html')?.plain.toString() ?? ''
  return [...page.matchAll(/<script\b[^>]*><\/script>|<link\b[^>]*>/g)].map(([tag]) => tag).join('\n')
}

/** Files that keep their names when their contents change. */
const KEEP_THEIR_NAMES = new Set(['theme.js', 'favicon.svg'])

export function createAssetRouter(site: BuiltSite | null): Router {
  const router = new Router({ sensitive: true })
  router.get('/docs-assets/:name', ctx => {
    const name = ctx.params.name ?? ''
    const file = site?.get(`/docs-assets/${name}`)
    if (file) serveSiteFile(ctx, file, KEEP_THEIR_NAMES.has(name) ? 'ask each time' : 'forever')
  })
  return router
}
