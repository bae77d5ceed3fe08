// GET /element.js: <countersign-verify> for web pages of any origin, as `npm run build` made it of clients/web.
import { Router } from '@koa/router'
import { serveSiteFile } from '../../infra/http/site-files.ts'
import { readBuiltSite } from '../../infra/web/built-site.ts'

const PATH = '/element.js'

export function createElementRouter(): Router {
  const file = readBuiltSite('element')?.get(PATH)
  const router = new Router({ sensitive: true })
  router.get(PATH, ctx => {
    if (!file) return
    // A script that is loaded with `integrity` needs the first, a page that is isolated from other origins the second.
    ctx.set('Access-Control-Allow-Origin', '*')
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin')
    serveSiteFile(ctx, file, 'five minutes')
  })
  return router
}
