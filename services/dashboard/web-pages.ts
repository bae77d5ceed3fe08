// Serves the dashboard's pages. In: the site that `npm run build` made of web/. Out: routes for its files, and for every screen.
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { httpException } from '../../infra/http/problem.ts'
import { serveSiteFile, setPageSecurityHeaders } from '../../infra/http/site-files.ts'
import { readBuiltSite } from '../../infra/web/built-site.ts'
import { PAGE_PATHS } from './screens.ts'

export function createWebPages(): Router {
  const site = readBuiltSite('dashboard')
  const router = new Router({ sensitive: true })

  function servePage(ctx: Context): void {
    const page = site?.get('/index.html')
    if (!page)
      throw httpException(404, 'The pages of the dashboard are not built. Run `npm run build`, then start again.')
    setPageSecurityHeaders(ctx)
    serveSiteFile(ctx, page, 'ask each time')
  }
  for (const path of PAGE_PATHS) router.get(path, servePage)
  router.get('/dashboard-assets/:name', ctx => {
    const file = site?.get(`/dashboard-assets/${ctx.params.name}`)
    if (file) serveSiteFile(ctx, file, 'forever')
  })
  for (const name of ['/favicon.svg', '/theme.js'])
    router.get(name, ctx => {
      const file = site?.get(name)
      if (file) serveSiteFile(ctx, file, 'ask each time')
    })
  return router
}
